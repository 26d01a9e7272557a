import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems use for outgoing connections, one of which could take the port first. */
const FROM = 10_000;
const UNTIL = 30_000;

/** An unused port of the loopback address. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, UNTIL);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
