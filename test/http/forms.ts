import { z } from '../../src/http/zod.js';
import type { Api } from '../../src/http/route.js';
import { optional, textField, uuidField, uuidSchema } from '../../src/http/schemas.js';

/** Multipart forms as clients send them, and a route that takes one. */

export const BOUNDARY = 'x-boundary-7f3a';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export interface Part {
  readonly name: string;
  readonly value: string | Buffer;
  /** Makes it a file. */
  readonly filename?: string;
  readonly headers?: readonly string[];
}

export function formBody(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ name, value, filename, headers = [] }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const head = [
      `--${BOUNDARY}`,
      `Content-Disposition: form-data; name="${name}"${file}`,
      ...headers,
      '',
      '',
    ];
    return [Buffer.from(head.join('\r\n')), Buffer.from(value), Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(end)]);
}

export const ACCOUNT = '018f0000-0000-7000-8000-0000000000ff';
export const SOURCE: Part = { name: 'source_account', value: ACCOUNT };
export const FILE: Part = {
  name: 'file',
  filename: 'payroll.csv',
  value: 'recipient,amount\n$ana,1\n',
};

/** `seen` gets every request that reached the handler, and may answer in its place. */
export function uploadRoute(seen: (request: unknown) => unknown): (api: Api) => void {
  const form = z.strictObject({
    source_account: uuidField,
    description: optional(textField({ max: 140 })),
  });
  return (api) =>
    api.post('/v1/bonus_batches', {
      operationId: 'uploadThing',
      permits: 'createTransfer',
      idempotent: 'tenant',
      body: form,
      hasFile: true,
      responses: {
        201: z.object({ id: uuidSchema }).openapi('Uploaded'),
        200: z.object({ id: uuidSchema }),
      },
      summary: 'Upload a thing',
      handler: async (request) => {
        await seen(request);
        return { status: 201, body: { id: request.requestId } };
      },
    });
}
