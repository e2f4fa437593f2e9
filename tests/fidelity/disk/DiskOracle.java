// Run from its source by oracle.py: opens log directories as a broker's start does, in one JVM.
//
// Each line in: "open PATHS" or "make PATHS", with commas between; "make" also stops in order afterwards, so that the
// directory has indexes, snapshots and checkpoints of Kafka's own making. Each line out: JSON.
//
// LogManager was Scala up to 4.3 and is Java since, and its neighbours moved between packages, so
// that all of them are found by the types that LogManager.apply takes.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Time;

public class DiskOracle {
    private static final long BROKER_EPOCH = 7;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] words = line.split(" ", 2);
            answers.println(new DiskOracle(words[1]).opened(words[0].equals("make")));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private final String path;
    private Object manager;
    private Object failures;

    private DiskOracle(String path) {
        this.path = path;
    }

    private String opened(boolean keep) throws Exception {
        String ends = null;
        List<String> logs = new ArrayList<>();
        try {
            manager = logManager();
            start();
            for (Object log : each(call(manager, "allLogs"))) {
                logs.add(described(log));
            }
        } catch (Throwable thrown) {
            ends = cause(thrown).toString();
        }
        List<String> offline = new ArrayList<>();
        for (String directory : path.split(",")) {
            if (failures != null && (boolean) call(failures, "hasOfflineLogDir", directory)) {
                offline.add(json(directory));
            }
        }
        stop(keep);
        Collections.sort(logs);
        return "{\"ends\": " + json(ends) + ", \"offline\": [" + String.join(", ", offline)
            + "], \"logs\": [" + String.join(", ", logs) + "]}";
    }

    private void stop(boolean keep) throws Exception {
        try {
            if (manager != null) {
                manager.getClass().getMethod("shutdown", long.class).invoke(manager, BROKER_EPOCH);
            }
        } catch (InvocationTargetException failed) {
            if (keep) {
                throw failed;
            }
        }
    }

    private Object logManager() throws Exception {
        Class<?> companion = Class.forName("kafka.log.LogManager$");
        Method apply = named(companion, "apply");
        Object[] values = Stream.of(apply.getParameterTypes()).map(this::argument).toArray();
        return apply.invoke(companion.getField("MODULE$").get(null), values);
    }

    private Object argument(Class<?> type) {
        try {
            if (type == boolean.class) {
                return true;
            }
            if (type == Time.class) {
                return Time.SYSTEM;
            }
            if (type == Set.class) {
                return Set.of();
            }
            if (type.getName().startsWith("scala.")) {
                return Class.forName("scala.collection.immutable.Nil$").getField("MODULE$").get(null);
            }
            if (type.isInterface()) {
                return answering(type, method ->
                    method.getReturnType() == Properties.class ? new Properties() : null);
            }
            switch (type.getSimpleName()) {
                case "KafkaConfig":
                    return type.getConstructor(Map.class).newInstance(properties());
                case "LogDirFailureChannel":
                    failures = type.getConstructor(int.class).newInstance(10);
                    return failures;
                default:
                    Constructor<?> made = type.getConstructor(boolean.class);
                    return made.newInstance(false);
            }
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no way to make a " + type, missing);
        }
    }

    private Map<String, String> properties() {
        Map<String, String> given = new HashMap<>();
        given.put("process.roles", "broker");
        given.put("node.id", "1");
        given.put("controller.quorum.voters", "9@127.0.0.1:9");
        given.put("controller.listener.names", "CONTROLLER");
        given.put("listeners", "PLAINTEXT://127.0.0.1:0");
        given.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        given.put("log.dirs", path);
        given.put("log.cleaner.enable", "false");
        given.put("num.recovery.threads.per.data.dir", "1");
        return given;
    }

    /** Starts as a broker does that finds every replica in the metadata, if it has a topic id. */
    private void start() throws Exception {
        for (Method startup : manager.getClass().getMethods()) {
            if (!startup.getName().equals("startup") || startup.getParameterCount() != 2) {
                continue;
            }
            Class<?>[] types = startup.getParameterTypes();
            Object topics = types[0] == Set.class
                ? Set.of()
                : call(Class.forName("scala.collection.immutable.Set$").getField("MODULE$").get(null), "empty");
            startup.invoke(manager, topics, Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {types[1]},
                (proxy, method, values) -> method.getName().equals("apply")
                    ? (Object) isEmpty(call(values[0], "topicId"))
                    : InvocationHandler.invokeDefault(proxy, method, values)));
            return;
        }
        throw new IllegalStateException("LogManager has no startup of two parameters");
    }

    private static String described(Object log) throws Exception {
        Object cache = call(log, "leaderEpochCache");
        if (cache instanceof Optional || cache.getClass().getName().startsWith("scala.")) {
            cache = isEmpty(cache) ? null : call(cache, "get");
        }
        List<String> epochs = new ArrayList<>();
        for (Object entry : cache == null ? List.of() : each(call(cache, "epochEntries"))) {
            epochs.add("[" + part(entry, "epoch") + ", " + part(entry, "startOffset") + "]");
        }
        List<String> segments = new ArrayList<>();
        for (Object segment : each(call(log, "logSegments"))) {
            segments.add(call(segment, "baseOffset").toString());
        }
        java.io.File directory = (java.io.File) call(log, "dir");
        String name = directory.getParentFile().getName() + "/" + directory.getName();
        return "{\"name\": " + json(name) + ", \"start\": " + call(log, "logStartOffset")
            + ", \"end\": " + call(log, "logEndOffset") + ", \"epochs\": [" + String.join(", ", epochs)
            + "], \"segments\": [" + String.join(", ", segments) + "]}";
    }

    /** A component of a record, which was a class with public fields up to 3.9. */
    private static Object part(Object of, String name) throws Exception {
        return of.getClass().isRecord() ? call(of, name) : of.getClass().getField(name).get(of);
    }

    private interface Answer {
        Object to(Method method);
    }

    private static Object answering(Class<?> type, Answer answer) {
        return Proxy.newProxyInstance(DiskOracle.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, values) ->
            method.isDefault() && method.getDeclaringClass() != Object.class
                ? InvocationHandler.invokeDefault(proxy, method, values)
                : answer.to(method));
    }

    private static Object call(Object of, String name, Object... values) throws Exception {
        Method found = of.getClass().getMethod(name, Stream.of(values).map(Object::getClass).toArray(Class[]::new));
        found.setAccessible(true);
        return found.invoke(of, values);
    }

    private static Method named(Class<?> type, String name) {
        return Stream.of(type.getMethods()).filter(m -> m.getName().equals(name)).findFirst().orElseThrow();
    }

    private static boolean isEmpty(Object optional) throws Exception {
        return (boolean) call(optional, "isEmpty");
    }

    private static List<Object> each(Object many) throws Exception {
        List<Object> found = new ArrayList<>();
        if (many instanceof Iterable) {
            ((Iterable<?>) many).forEach(found::add);
            return found;
        }
        scala.collection.Iterator<?> all = ((scala.collection.Iterable<?>) many).iterator();
        while (all.hasNext()) {
            found.add(all.next());
        }
        return found;
    }

    private static Throwable cause(Throwable thrown) {
        boolean wraps = thrown instanceof InvocationTargetException || thrown instanceof ExecutionException;
        return wraps && thrown.getCause() != null ? cause(thrown.getCause()) : thrown;
    }

    private static String json(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder safe = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            safe.append(c < ' ' || c == '"' || c == '\\' || c > '~' ? "?" : String.valueOf(c));
        }
        return safe.append('"').toString();
    }
}
