import java.io.*;
import java.lang.reflect.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.QuorumController;
import org.apache.kafka.controller.QuorumFeatures;
import org.apache.kafka.image.loader.MetadataLoader;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.raft.*;
import org.apache.kafka.raft.internals.RecordsBatchReader;
import org.apache.kafka.server.common.*;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.snapshot.*;

/**
 * Loads metadata logs into Kafka's own controller, and has it lead: one JVM for all of them, and
 * neither a network nor a quorum.
 *
 * A line on stdin is the path of a __cluster_metadata-0; a line on stdout is "leads", or "dies" and
 * why. QuorumController and MetadataLoader get what KafkaRaftClient would hand them: the newest
 * checkpoint, the log behind it, and the news that this node leads.
 *
 * The classes that releases have moved or changed are found by reflection.
 */
public class SeedJudge {
    static final int NODE = 101;
    static final Pattern SNAPSHOT = new Pattern("(\\d{20})-(\\d{10})\\.checkpoint");
    static final Pattern SEGMENT = new Pattern("(\\d{20})\\.log");

    record Pattern(String of) {
        List<String[]> in(File[] files) {
            List<String[]> found = new ArrayList<>();
            for (File file : files) {
                var match = java.util.regex.Pattern.compile(of).matcher(file.getName());
                if (match.matches()) {
                    String[] groups = new String[match.groupCount() + 1];
                    for (int i = 0; i < groups.length; i++) groups[i] = match.group(i);
                    found.add(groups);
                }
            }
            found.sort(Comparator.comparing(groups -> groups[0]));
            return found;
        }
    }

    /** What a node writes as its last words. */
    static class Faults implements FaultHandler {
        final List<String> said = new CopyOnWriteArrayList<>();
        public RuntimeException handleFault(String message, Throwable cause) {
            StringWriter told = new StringWriter();
            if (cause != null) cause.printStackTrace(new PrintWriter(told));
            said.add(message + ": " + told);
            return new org.apache.kafka.server.fault.FaultHandlerException(message, cause);
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String why;
            try {
                why = judge(new File(line.trim()));
            } catch (Throwable e) {
                StringWriter told = new StringWriter();
                e.printStackTrace(new PrintWriter(told));
                why = "judge " + told;
            }
            out.println(why == null ? "leads" : "dies " + why.replace('\n', ' '));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Null where it leads. */
    static String judge(File directory) throws Exception {
        Faults fatal = new Faults(), other = new Faults();
        Client client = new Client();
        QuorumController controller = controller(client, fatal, other);
        MetadataLoader loader = new MetadataLoader.Builder()
            .setNodeId(NODE).setThreadNamePrefix("loader-").setFaultHandler(fatal)
            .setHighWaterMarkAccessor(() -> OptionalLong.of(client.end)).build();
        client.listeners.add(loader);
        try {
            for (RaftClient.Listener<ApiMessageAndVersion> listener : client.listeners) load(directory, listener, client);
            client.leader = new LeaderAndEpoch(OptionalInt.of(NODE), client.epoch + 1);
            for (RaftClient.Listener<ApiMessageAndVersion> listener : client.listeners) listener.handleLeaderChange(client.leader);
            // Both take one event after the other: once these are done, all before them are.
            call(loader, "waitForAllEventsToBeHandled");
            controller.waitForReadyBrokers(0).get(60, TimeUnit.SECONDS);
        } catch (Throwable e) {
            if (fatal.said.isEmpty()) fatal.said.add(String.valueOf(e));
        } finally {
            controller.beginShutdown();
            loader.beginShutdown();
            controller.close();
            loader.close();
        }
        if (!fatal.said.isEmpty()) return fatal.said.get(0);
        if (!other.said.isEmpty()) return other.said.get(0);
        return client.resigned ? "it resigned" : client.appended == 0 && !client.led ? "it never led" : null;
    }

    static QuorumController controller(Client client, Faults fatal, Faults other) throws Exception {
        Method features = Arrays.stream(QuorumFeatures.class.getMethods())
            .filter(m -> m.getName().startsWith("default") && m.getParameterCount() == 1).findFirst().get();
        @SuppressWarnings("unchecked")
        var map = (Map<String, org.apache.kafka.metadata.VersionRange>) features.invoke(null, false);
        return new QuorumController.Builder(NODE, "MkU3OEVBNTcwNTJENDM2Qg")
            .setTime(Time.SYSTEM)
            .setRaftClient(client.proxy())
            .setQuorumFeatures(new QuorumFeatures(NODE, map, List.of(NODE)))
            .setBootstrapMetadata(BootstrapMetadata.fromVersion(MetadataVersion.latestProduction(), "the judge"))
            .setConfigSchema(kafka.server.KafkaRaftServer.configSchema())
            .setFatalFaultHandler(fatal)
            .setNonFatalFaultHandler(other)
            .setLeaderImbalanceCheckIntervalNs(OptionalLong.empty())
            .setMaxIdleIntervalNs(OptionalLong.empty())
            .setSessionTimeoutNs(Long.MAX_VALUE / 4)
            .build();
    }

    /** Hand the newest checkpoint and the log behind it to a listener. */
    static void load(File directory, RaftClient.Listener<ApiMessageAndVersion> listener, Client client) throws Exception {
        File[] files = directory.listFiles();
        long begins = 0;
        List<String[]> snapshots = SNAPSHOT.in(files);
        if (!snapshots.isEmpty()) {
            String[] newest = snapshots.get(snapshots.size() - 1);
            begins = Long.parseLong(newest[1]);
            listener.handleLoadSnapshot(snapshot(directory.toPath(), begins, Integer.parseInt(newest[2])));
            client.reached(begins, Integer.parseInt(newest[2]));
        }
        for (String[] segment : SEGMENT.in(files)) {
            Object records = opened(new File(directory, segment[0]));
            long base = -1; int position = -1;
            for (Object batch : (Iterable<?>) records.getClass().getMethod("batches").invoke(records)) {
                long last = (long) call(batch, "lastOffset");
                if (last < begins) continue;
                if (base < 0) { base = (long) call(batch, "baseOffset"); position = (int) call(batch, "position"); }
                client.reached(last + 1, (int) call(batch, "partitionLeaderEpoch"));
            }
            if (base >= 0) {
                Object behind = records.getClass().getMethod("slice", int.class, int.class).invoke(records, position, Integer.MAX_VALUE);
                listener.handleCommit(batches(base, behind));
            }
        }
    }

    static Object call(Object on, String name) throws Exception {
        for (Class<?> c = on.getClass(); c != null; c = c.getSuperclass()) {
            try {
                Method method = c.getDeclaredMethod(name);
                method.setAccessible(true);
                return method.invoke(on);
            } catch (NoSuchMethodException e) { /* of its parent */ }
        }
        throw new NoSuchMethodException(name);
    }

    static Object opened(File file) throws Exception {
        Class<?> records;
        try {
            records = Class.forName("org.apache.kafka.common.record.internal.FileRecords");
        } catch (ClassNotFoundException e) {
            records = Class.forName("org.apache.kafka.common.record.FileRecords");
        }
        return records.getMethod("open", File.class, boolean.class).invoke(null, file, false);
    }

    @SuppressWarnings("unchecked")
    static SnapshotReader<ApiMessageAndVersion> snapshot(Path directory, long offset, int epoch) throws Exception {
        Method open = method(FileRawSnapshotReader.class, "open");
        Object id = open.getParameterTypes()[1].getConstructor(long.class, int.class).newInstance(offset, epoch);
        return (SnapshotReader<ApiMessageAndVersion>) made(RecordsSnapshotReader.class, open.invoke(null, directory, id));
    }

    @SuppressWarnings("unchecked")
    static BatchReader<ApiMessageAndVersion> batches(long base, Object records) throws Exception {
        return (BatchReader<ApiMessageAndVersion>) made(RecordsBatchReader.class, base, records);
    }

    static Method method(Class<?> in, String name) {
        return Arrays.stream(in.getMethods()).filter(m -> m.getName().equals(name) && Modifier.isStatic(m.getModifiers())).findFirst().get();
    }

    /** The reader's `of`: its first parameters, and for the rest what each type asks for. */
    static Object made(Class<?> reader, Object... first) throws Exception {
        Method of = method(reader, "of");
        Object[] given = new Object[of.getParameterCount()];
        for (int i = 0; i < given.length; i++) {
            Class<?> type = of.getParameterTypes()[i];
            given[i] = i < first.length ? first[i] : switch (type.getSimpleName()) {
                case "RecordSerde" -> MetadataRecordSerde.INSTANCE;
                case "BufferSupplier" -> type.getMethod("create").invoke(null);
                case "LogContext" -> type.getConstructor().newInstance();
                case "CloseListener" -> (org.apache.kafka.raft.internals.CloseListener<AutoCloseable>) r -> { };
                case "int" -> KafkaRaftClient.MAX_BATCH_SIZE_BYTES;
                case "boolean" -> true;
                default -> throw new IllegalStateException(type.getName());
            };
        }
        return of.invoke(null, given);
    }

    /** Stands for KafkaRaftClient: all that is appended is the log's at once. */
    static class Client {
        final List<RaftClient.Listener<ApiMessageAndVersion>> listeners = new ArrayList<>();
        volatile LeaderAndEpoch leader = LeaderAndEpoch.UNKNOWN;
        volatile long end, appended;
        volatile boolean resigned, led;
        int epoch;

        void reached(long end, int epoch) { this.end = Math.max(this.end, end); this.epoch = Math.max(this.epoch, epoch); }

        @SuppressWarnings("unchecked")
        RaftClient<ApiMessageAndVersion> proxy() {
            return (RaftClient<ApiMessageAndVersion>) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {RaftClient.class}, this::answer);
        }

        @SuppressWarnings("unchecked")
        Object answer(Object proxy, Method method, Object[] given) {
            switch (method.getName()) {
                case "register": listeners.add((RaftClient.Listener<ApiMessageAndVersion>) given[0]); return null;
                case "highWatermark": return OptionalLong.of(end);
                case "leaderAndEpoch": return leader;
                case "nodeId": return OptionalInt.of(NODE);
                case "prepareAppend": led = true; appended += ((List<?>) given[1]).size(); end += ((List<?>) given[1]).size(); return end - 1;
                case "logEndOffset": led |= leader.isLeader(NODE); return end;
                case "resign": resigned = true; return null;
                case "shutdown": return CompletableFuture.completedFuture(null);
                case "kraftVersion": return KRaftVersion.KRAFT_VERSION_1;
                case "voterNode": case "createSnapshot": case "latestSnapshotId": return Optional.empty();
                case "toString": return "the judge's client";
                case "hashCode": return System.identityHashCode(this);
                case "equals": return proxy == given[0];
                default: return null;
            }
        }
    }
}
