// Run from its source by cluster_metadata_vectors.py, which says what it is for.
//
// Each line in: "metadata" or the name of a control record's class, api key, version, JSON; by tabs.
// Each line out: the bytes Kafka makes of it in hex, and the JSON Kafka makes of those.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

public class ClusterMetadataVectors {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", 4);
            short version = Short.parseShort(parts[2]);
            JsonNode json = new ObjectMapper().readTree(parts[3]);
            System.out.println(parts[0].equals("metadata")
                ? metadata(Short.parseShort(parts[1]), version, json)
                : control(parts[0], version, json));
        }
    }

    private static String metadata(short key, short version, JsonNode json) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ApiMessageAndVersion record = new ApiMessageAndVersion(
            MetadataJsonConverters.readJson(json, key, version), version);
        ByteBuffer buffer =
            ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
        MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(buffer));
        return HexFormat.of().formatHex(buffer.array())
            + "\t" + MetadataJsonConverters.writeJson(record.message(), version);
    }

    private static String control(String name, short version, JsonNode json) throws Exception {
        Class<?> type = Class.forName("org.apache.kafka.common.message." + name);
        Class<?> converter = Class.forName(type.getName() + "JsonConverter");
        ApiMessage message = (ApiMessage)
            converter.getMethod("read", JsonNode.class, short.class).invoke(null, json, version);
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return HexFormat.of().formatHex(buffer.array()) + "\t"
            + converter.getMethod("write", type, short.class).invoke(null, message, version);
    }
}
