import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { connectionOptions, type TemporalOptions } from './connection-options.js';

/** Closes after its calls: the SDK's retries would throw uncatchable errors once it is closed. */
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

  async close(): Promise<void> {
    await Promise.allSettled(this.calls);
    await this.connection.close();
  }
}
