const HEADER_BYTES = 12;
const TYPE_A = 1;
const RESPONSE = 0x8580;
const NAME_ERROR = 3;
const TTL_S = 1;

/** The answer of a name server that knows addresses alone (RFC 1035, one question): the question with an A record for each. */
export function addressAnswer(
  question: Buffer,
  addressesOf: (name: string) => readonly string[],
): Buffer {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const end = at + 5;
  const known = addressesOf(labels.join('.').toLowerCase());
  const records = question.readUInt16BE(at + 1) === TYPE_A ? known.map(record) : [];
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(RESPONSE | (known.length === 0 ? NAME_ERROR : 0), 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end), ...records]);
}

/** The name is that of the question. */
function record(address: string): Buffer {
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, TTL_S, 0, 4]);
  return Buffer.concat([head, Buffer.from(address.split('.').map(Number))]);
}
