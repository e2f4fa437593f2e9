import java.io.*;
import java.lang.reflect.*;
import java.util.*;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

/**
 * Goes through Kafka's own tables of brokers.
 *
 * A line on stdin is "table" and what is done to a table of registrations, as +3 or -3, or "tracker"
 * and the brokers that it hears of, as id:epoch. A line on stdout has the brokers, as a controller goes
 * through the registrations, or as their sessions are ended.
 */
public class FencingOrder {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = List.of(line.split(" "));
            List<String> rest = words.subList(1, words.size());
            List<Integer> found = words.get(0).equals("table") ? table(rest) : tracker(rest);
            StringJoiner told = new StringJoiner(" ");
            found.forEach(id -> told.add(id.toString()));
            System.out.println(told);
        }
    }

    static List<Integer> table(List<String> done) throws Exception {
        // Releases have moved LogContext.
        Constructor<?> made = Arrays.stream(SnapshotRegistry.class.getConstructors())
            .filter(each -> each.getParameterCount() == 1).findFirst().get();
        Object context = made.getParameterTypes()[0].getConstructor().newInstance();
        SnapshotRegistry registry = (SnapshotRegistry) made.newInstance(context);
        TimelineHashMap<Integer, Object> brokers = new TimelineHashMap<>(registry, 0);
        for (String each : done) {
            int id = Integer.parseInt(each.substring(1));
            if (each.charAt(0) == '+') {
                brokers.put(id, new Object());
            } else {
                brokers.remove(id);
            }
        }
        return new ArrayList<>(brokers.keySet());
    }

    static List<Integer> tracker(List<String> heard) throws Exception {
        Class<?> time = Class.forName("org.apache.kafka.common.utils.Time");
        Class<?> of = Class.forName("org.apache.kafka.controller.BrokerHeartbeatTracker");
        Class<?> key = Class.forName("org.apache.kafka.controller.BrokerIdAndEpoch");
        Constructor<?> made = open(of.getDeclaredConstructor(time, long.class));
        Constructor<?> named = open(key.getDeclaredConstructor(int.class, long.class));
        Method touch = open(of.getDeclaredMethod("updateContactTime", key, long.class));
        Method expired = open(of.getDeclaredMethod("maybeRemoveExpired", long.class));
        Method id = open(key.getDeclaredMethod("id"));
        Object tracker = made.newInstance(null, 1L);
        for (String each : heard) {
            String[] parts = each.split(":");
            Object broker = named.newInstance(Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
            touch.invoke(tracker, broker, 0L);
        }
        List<Integer> found = new ArrayList<>();
        Optional<?> next = (Optional<?>) expired.invoke(tracker, 9L);
        while (next.isPresent()) {
            found.add((Integer) id.invoke(next.get()));
            next = (Optional<?>) expired.invoke(tracker, 9L);
        }
        return found;
    }

    static <T extends AccessibleObject> T open(T found) {
        found.setAccessible(true);
        return found;
    }
}
