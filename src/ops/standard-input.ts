const MAX_BYTES = 1_000;

/** Reads a short secret from a program, trimmed. */
export async function readStandardInput(): Promise<string> {
  let read = '';
  for await (const piece of process.stdin.setEncoding('utf8')) {
    read += String(piece);
    if (read.length > MAX_BYTES) break;
  }
  return read.trim();
}
