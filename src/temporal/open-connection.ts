import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { connectionOptions, type TemporalOptions } from './connection-options.js';

/**
 * A connection that closes after its calls have ended. The SDK repeats a call from a timer. If the
 * connection is closed by then, the timer throws an error that cannot be caught and ends the
 * process.
 */
export class OpenConnection {
  readonly connection: Connection;
  readonly client: Client;
  private readonly calls = new Set<Promise<unknown>>();

  constructor(options: TemporalOptions, interceptors: readonly WorkflowClientInterceptor[]) {
    this.connection = Connection.lazy(connectionOptions(options));
    const { namespace } = options;
    this.client = new Client({
      connection: this.connection,
      namespace,
      interceptors: { workflow: [...interceptors] },
    });
  }

  async within<T>(deadlineMs: number, call: (open: OpenConnection) => Promise<T>): Promise<T> {
    const calling = this.connection.withDeadline(Date.now() + deadlineMs, () => call(this));
    this.calls.add(calling);
    try {
      return await calling;
    } finally {
      this.calls.delete(calling);
    }
  }

  /** Closes the connection once its calls have ended. Each call has a deadline. */
  async close(): Promise<void> {
    await Promise.allSettled(this.calls);
    await this.connection.close();
  }
}
