// A log with the TypeScript reader of MCAP. Run by ci/readers.
//
// usage: node read_log.mjs RUN.mcap

import { open } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const { McapIndexedReader } = require("@mcap/core");

const file = await open(process.argv[2]);
const { size } = await file.stat();
const readable = {
  size: async () => BigInt(size),
  read: async (offset, length) => {
    const bytes = new Uint8Array(Number(length));
    await file.read(bytes, 0, bytes.length, Number(offset));
    return bytes;
  },
};
const fail = (text) => {
  console.error(text);
  process.exit(1);
};

const reader = await McapIndexedReader.Initialize({ readable });
const latest = new Map();
let count = 0;
for await (const message of reader.readMessages()) {
  const channel = reader.channelsById.get(message.channelId);
  const schema = reader.schemasById.get(channel.schemaId);
  if (!schema || schema.data.length === 0) fail(`${channel.topic} has no schema`);
  if ((latest.get(channel.topic) ?? 0n) > message.publishTime) fail(`${channel.topic} runs back`);
  latest.set(channel.topic, message.publishTime);
  count += 1;
  if (channel.messageEncoding === "json") {
    const text = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
    const names = Object.keys(text(schema.data).properties).sort().join();
    const value = text(message.data);
    if (Object.keys(value).sort().join() !== names) fail(`${channel.topic}: other fields than its schema's`);
    if (Object.values(value).some((v) => typeof v === "object" && v !== null)) fail(`${channel.topic}: unnamed numbers`);
  }
}
if (count < 1000 || !latest.has("/parameters")) fail(`only ${count} messages`);
console.log(`@mcap/core: ${count} messages in ${latest.size} topics, all with a schema and named fields`);
