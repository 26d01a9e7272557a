/** The part of busboy that we use; it has no types of its own. */
declare module 'busboy' {
  import type { IncomingHttpHeaders } from 'node:http';
  import type { Readable, Writable } from 'node:stream';

  interface Limits {
    readonly fieldSize: number;
    readonly fields: number;
    readonly fileSize: number;
    readonly files: number;
    readonly parts: number;
  }

  interface Parser extends Writable {
    on(
      event: 'file',
      listener: (name: string | undefined, content: Readable, info: { readonly filename?: string }) => void,
    ): this;
    on(
      event: 'field',
      listener: (name: string | undefined, value: unknown, info: { readonly valueTruncated: boolean }) => void,
    ): this;
    on(event: 'partsLimit' | 'fieldsLimit' | 'filesLimit' | 'close', listener: () => void): this;
    on(event: 'error', listener: (failure: unknown) => void): this;
  }

  /** Throws unless the content type is a multipart form with a boundary. */
  export default function busboy(options: {
    readonly headers: IncomingHttpHeaders;
    readonly defParamCharset: 'utf8';
    readonly limits: Limits;
  }): Parser;
}
