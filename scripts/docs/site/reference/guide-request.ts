import { EXAMPLE } from '../../../../src/http/zod.js';

/** Parts of a request that the samples of an operation send, without the ids in the path. */
export interface SentRequest {
  readonly query: Readonly<Record<string, string>>;
  /** The JSON body, or the fields of the form; undefined without a body. */
  readonly body: unknown;
  /** The file that a form uploads. */
  readonly file: string;
}

/** Stands for the value of a variable, which a command does not state. */
const VARIABLE = '\u0000';
/** A text, a variable of jq, or a name before its colon. */
const JQ_WORD = /"(?:[^"\\]|\\.)*"|\$[\w.[\]]+|\b[a-z]\w*(?=\s*:)/g;

/**
 * Returns what a guide's shell command sends to the path of an operation. Variables, and a body or a file
 * that the command does not state, are those of the operation's example.
 */
export function requestOfCommand(command: string, path: string, example: SentRequest): SentRequest {
  const place = path.replace(/^\/v1/, '').replaceAll(/\{\w+\}/g, '[^/"?]+');
  const call = new RegExp(String.raw`"\$SVC_URL${place}(?:\?([^"]*))?"([^\n|]*)`);
  const [, search = '', options = ''] = call.exec(command) ?? [];
  const data = Array.from(
    options.matchAll(/(?:-d|--data-urlencode) "?([^"\s]+)/g),
    ([, pair = '']) => pair,
  );
  const query = new URLSearchParams([search, ...data].join('&'));
  // What follows `jq ` directly selects from the response.
  const [, json] = /(?<!jq )'(\{[^']*\})'/.exec(command) ?? [];
  const [, file = example.file] = /-F file=@([\w.]+)/.exec(command) ?? [];
  return {
    query: Object.fromEntries(
      Array.from(query, ([name, value]) => [
        name,
        value.startsWith('$') ? (example.query[name] ?? EXAMPLE.event) : value,
      ]),
    ),
    body:
      json === undefined || example.body === undefined
        ? example.body
        : withoutVariables(parsed(json), example.body),
    file,
  };
}

/** Reads an object in JSON or in the notation of jq. */
function parsed(text: string): unknown {
  const json = text.replaceAll(JQ_WORD, (word) =>
    word.startsWith('"') ? word : JSON.stringify(word.startsWith('$') ? VARIABLE : word),
  );
  return JSON.parse(json);
}

function withoutVariables(value: unknown, example: unknown): unknown {
  if (value === VARIABLE) return example ?? '…';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const examples = new Map<string, unknown>(Object.entries(example ?? {}));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withoutVariables(one, examples.get(name))]),
  );
}
