/** Types for the used parts of @koa/multer and multer, which have none of their own. */
declare module '@koa/multer' {
  import type { ServerResponse } from 'node:http';
  import type { Readable, Writable } from 'node:stream';

  interface SentFile {
    readonly fieldname: string;
    readonly stream: Readable;
  }

  export type StoreDone = (fault: Error | null, stored?: object) => void;

  interface StorageEngine<R> {
    _handleFile(request: R, file: SentFile, done: StoreDone): void;
    _removeFile(request: R, file: SentFile, done: StoreDone): void;
  }

  /** Sets `files` and `body` of `req`. */
  type Middleware<R> = (
    context: { req: R; res: ServerResponse },
    next: () => void,
  ) => Promise<void>;

  export default function multer<R extends Readable>(options: {
    readonly storage: StorageEngine<R>;
    readonly defParamCharset: 'utf8';
    readonly limits: Readonly<
      Record<'fieldSize' | 'fileSize' | 'parts' | 'fieldArrayIndexLimit', number>
    >;
    readonly streamHandler: (request: R, parser: Writable) => void;
  }): { any(): Middleware<R> };
}

declare module 'multer' {
  export class MulterError extends Error {
    readonly code: string;
    readonly field?: string;
  }
}
