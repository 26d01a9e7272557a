import type { TestTemporal } from './temporal.js';

/** Everything that Temporal keeps of these workflows, and what it lists, payloads decoded, as one text. */
export async function keptByTemporal(
  { client }: TestTemporal,
  workflowIds: readonly string[],
): Promise<string> {
  const texts: string[] = [];
  for (const workflowId of workflowIds) {
    const handle = client.workflow.getHandle(workflowId);
    texts.push(readable(await handle.fetchHistory()), readable((await handle.describe()).raw));
  }
  for await (const { raw } of client.workflow.list()) texts.push(readable(raw));
  return texts.join('\n');
}

/** As JSON, with what is in base64 decoded beside it. */
function readable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'string' && /^[A-Za-z0-9+/]{4,}={0,2}$/.test(inner)
      ? `${inner} ${Buffer.from(inner, 'base64').toString('latin1')}`
      : inner,
  );
}
