import { z } from 'zod';
import { EXAMPLE_ASSET } from '../../../../src/core/amount.js';
import { EXAMPLE, exampleOf } from '../../../../src/http/zod.js';
import type { Route } from '../../../../src/http/route.js';
import { FILE_FIELD } from '../../../../src/http/upload.js';
import type { DescribedOperation, Schema, Schemas } from '../../openapi/document.js';
import { requestOfCommand } from './guide-request.js';
import { resolveSchema } from './schema.js';

export interface Sample {
  readonly name: 'curl' | 'TypeScript' | 'Python' | 'Go';
  readonly language: string;
  readonly text: string;
}

interface Request {
  readonly route: Route;
  readonly path: string;
  readonly ids: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly body: { readonly value: unknown; readonly schema: Schema } | null;
  readonly form: Readonly<Record<string, string>> | null;
  readonly file: string;
  readonly isKeyed: boolean;
  readonly isFile: boolean;
  /** False for a 204. */
  readonly hasResult: boolean;
  readonly schemas: Schemas;
}

const KEY_ADVICE = 'Store it with the order first; repeat the request with the same key.';

type Line = string | readonly string[] | false | null;

/** Joins the lines, without those that are false or null. */
function lines(all: readonly Line[], end = '\n'): string {
  return all.flatMap((line) => (line === false || line === null ? [] : line)).join(end);
}

/** Returns the samples of the operation's example, or of the request of a guide's shell command. */
export function samplesOf(
  route: Route,
  operation: DescribedOperation,
  schemas: Schemas,
  command?: string,
): Sample[] {
  const request = requestOf(route, operation, schemas, command);
  return [
    { name: 'curl', language: 'bash', text: curl(request) },
    { name: 'TypeScript', language: 'typescript', text: typeScript(request) },
    { name: 'Python', language: 'python', text: python(request) },
    { name: 'Go', language: 'go', text: go(request) },
  ];
}

function requestOf(
  route: Route,
  operation: DescribedOperation,
  schemas: Schemas,
  command: string | undefined,
): Request {
  const { content = {} } = operation.requestBody ?? {};
  const [type, media] = Object.entries(content)[0] ?? [];
  const texts = z.record(z.string(), z.coerce.string());
  const example = {
    query: texts.parse((route.query === null ? undefined : exampleOf(route.query)) ?? {}),
    // Tests require that every body has an example.
    body: media?.example,
    file: route.path.includes('payout') ? 'suppliers.csv' : 'payroll.csv',
  };
  const sent = command === undefined ? example : requestOfCommand(command, route.path, example);
  const { query, body, file } = sent;
  const ids = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name = '']) => pathValue(name));
  let at = 0;
  const path = route.path.replace(/^\/v1/, '').replaceAll(/\{\w+\}/g, () => ids[at++] ?? '');
  const search = new URLSearchParams(query).toString();
  const isForm = type === 'multipart/form-data';
  return {
    route,
    ids,
    query,
    schemas,
    path: search === '' ? path : `${path}?${search}`,
    body: media === undefined || isForm ? null : { value: body, schema: media.schema ?? {} },
    form: isForm
      ? Object.fromEntries(Object.entries(texts.parse(body)).filter(([key]) => key !== FILE_FIELD))
      : null,
    file,
    isKeyed: route.idempotent !== null,
    isFile: route.fileTypes.length > 0,
    hasResult: !Object.keys(route.responses).includes('204'),
  };
}

const PATH_VALUES: Readonly<Record<string, string>> = {
  asset: EXAMPLE_ASSET,
  account_id: EXAMPLE.source,
  member_id: EXAMPLE.member,
  key_id: EXAMPLE.keyId,
};

function pathValue(name: string): string {
  return PATH_VALUES[name] ?? EXAMPLE.event;
}

function curl({ route, path, body, form, file, isKeyed, isFile }: Request): string {
  const isPlain = route.method === 'GET' || (route.method === 'POST' && route.body !== null);
  const json = body === null ? '' : JSON.stringify(body.value, null, 2);
  const call = lines(
    [
      `curl ${isPlain ? '' : `-X ${route.method} `}"$SVC_URL${path}"`,
      '-H "Authorization: Bearer $SVC_TOKEN"',
      isKeyed && '-H "Idempotency-Key: $key"',
      body && `--json '${json.replaceAll("'", String.raw`'\''`)}'`,
      Object.entries(form ?? {}).map(([name, value]) => `-F '${name}=${value}'`),
      form && `-F ${FILE_FIELD}=@${file}`,
      isFile && '-o file.csv',
    ],
    ' \\\n  ',
  );
  return `${isKeyed ? `# ${KEY_ADVICE}\nkey=$(uuidgen)\n` : ''}${call}`;
}

function typeScript(request: Request): string {
  const { route, ids, query, body, form, isKeyed, isFile, hasResult, schemas } = request;
  const { operationId: id } = route;
  const fields = Object.entries(form ?? {}).map(
    ([name, value]) => `  ${name}: ${quoted(value)},\n`,
  );
  const passed = [
    ...ids.map(quoted),
    ...(body === null ? [] : [literal(body.value, body.schema, schemas)]),
    ...(form === null ? [] : [`{\n${fields.join('')}  ${FILE_FIELD}: new Blob([file]),\n}`]),
    ...(Object.keys(query).length === 0 ? [] : [literal(withLimit(query), {}, schemas)]),
    ...(isKeyed ? ['{ idempotencyKey: key }'] : []),
  ].join(', ');
  const call = `client.${id}(${passed})`;
  const isList = id.startsWith('list');
  return lines([
    "import { MoneyClient } from 'money-movement-client';",
    form && "import { readFile } from 'node:fs/promises';",
    '',
    "const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;",
    'const client = new MoneyClient({ baseUrl, token });',
    isKeyed && [`// ${KEY_ADVICE}`, 'const key = crypto.randomUUID();'],
    form && `const file = await readFile(${quoted(request.file)});`,
    !isList && `${hasResult ? 'const result = ' : ''}await ${call};`,
    !isList && hasResult && `console.log(${isFile ? 'await result.text()' : 'result'});`,
    isList &&
      (query.limit === undefined
        ? `for await (const one of ${call}) console.log(one);`
        : `console.log((await ${call}.page()).items);`),
  ]);
}

/** `limit` is the client's only number in a query. */
function withLimit({ limit, ...query }: Request['query']): Record<string, unknown> {
  return limit === undefined ? query : { ...query, limit: Number(limit) };
}

/** Returns a TypeScript literal; amounts are bigint. */
function literal(value: unknown, given: Schema, schemas: Schemas, indent = ''): string {
  const schema = resolveSchema(given, schemas);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((one) => literal(one, schema.items ?? {}, schemas, inner));
    return `[${items.join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const { properties = {} } = schema;
    const lines = Object.entries(value).map(
      ([name, one]) =>
        `${inner}${name}: ${literal(one, properties[name] ?? {}, schemas, inner)},\n`,
    );
    return `{\n${lines.join('')}${indent}}`;
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  return schema.format === 'int64' ? `${value}n` : quoted(value);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`\'`)}'`;
}

function python({ route, path, body, form, file, isKeyed, isFile, hasResult }: Request): string {
  const hasJson = !isFile && hasResult;
  return lines([
    (hasJson || body !== null) && 'import json',
    'import os',
    'import urllib.error',
    'import urllib.request',
    isKeyed && 'import uuid',
    '',
    isKeyed && [`# ${KEY_ADVICE}`, 'key = str(uuid.uuid4())'],
    body && `body = ${pythonLiteral(body.value)}`,
    form && pythonForm(form, file),
    'request = urllib.request.Request(',
    `    os.environ["SVC_URL"] + "${path}",`,
    `    method="${route.method}",`,
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["SVC_TOKEN"],',
    isKeyed && '        "Idempotency-Key": key,',
    body && '        "Content-Type": "application/json",',
    form && '        "Content-Type": "multipart/form-data; boundary=" + boundary,',
    '    },',
    body && '    data=json.dumps(body).encode(),',
    form && '    data=body,',
    ')',
    'try:',
    '    with urllib.request.urlopen(request, timeout=60) as response:',
    `        print(${hasJson ? 'json.load(response)' : isFile ? 'response.read().decode()' : 'response.status'})`,
    'except urllib.error.HTTPError as error:',
    '    raise SystemExit(f"{error.code} {error.read().decode()}")',
  ]);
}

function pythonLiteral(value: unknown): string {
  return JSON.stringify(value, null, 4)
    .replaceAll(/: (true|false|null)\b/g, (_, word: string) =>
      word === 'null' ? ': None' : `: ${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    )
    .replaceAll(/([^{[,])\n/g, '$1,\n');
}

function pythonForm(form: Readonly<Record<string, string>>, fileName: string): string[] {
  const part = 'f"--{boundary}\\r\\nContent-Disposition: form-data; name=';
  return [
    'boundary = uuid.uuid4().hex',
    `with open("${fileName}", "rb") as file:`,
    '    content = file.read()',
    'body = b"".join(',
    '    [',
    ...Object.entries(form).map(
      ([name, value]) => `        ${part}\\"${name}\\"\\r\\n\\r\\n${value}\\r\\n".encode(),`,
    ),
    `        ${part}\\"${FILE_FIELD}\\"; filename=\\"${fileName}\\"\\r\\n\\r\\n".encode(),`,
    '        content,',
    '        f"\\r\\n--{boundary}--\\r\\n".encode(),',
    '    ]',
    ')',
  ];
}

function go({ route, path, body, form, file, isKeyed }: Request): string {
  const json = body === null ? '' : JSON.stringify(body.value, null, 2);
  const sent = form !== null ? '&form' : body === null ? 'nil' : 'body';
  const type = form !== null ? 'writer.FormDataContentType()' : '"application/json"';
  const fatal = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}'];
  return lines([
    'package main',
    '',
    'import (',
    form && '\t"bytes"',
    isKeyed && '\t"crypto/rand"',
    ['\t"fmt"', '\t"io"', '\t"log"'],
    form && '\t"mime/multipart"',
    ['\t"net/http"', '\t"os"'],
    body && '\t"strings"',
    ['\t"time"', ')'],
    '',
    'func main() {',
    isKeyed && [
      `\t// ${KEY_ADVICE}`,
      '\tid := make([]byte, 16)',
      '\trand.Read(id)',
      '\tkey := fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])',
    ],
    form && [
      '\tvar form bytes.Buffer',
      '\twriter := multipart.NewWriter(&form)',
      ...Object.entries(form).map(([name, value]) => `\twriter.WriteField("${name}", "${value}")`),
      `\tcontent, err := os.ReadFile("${file}")`,
      ...fatal,
      `\tpart, err := writer.CreateFormFile("${FILE_FIELD}", "${file}")`,
      ...fatal,
      '\tpart.Write(content)',
      '\twriter.Close()',
    ],
    body && `\tbody := strings.NewReader(\`${json}\`)`,
    `\trequest, err := http.NewRequest("${route.method}", os.Getenv("SVC_URL")+"${path}", ${sent})`,
    fatal,
    '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))',
    isKeyed && '\trequest.Header.Set("Idempotency-Key", key)',
    sent !== 'nil' && `\trequest.Header.Set("Content-Type", ${type})`,
    '\tclient := http.Client{Timeout: time.Minute}',
    '\tresponse, err := client.Do(request)',
    fatal,
    '\tdefer response.Body.Close()',
    '\tresult, err := io.ReadAll(response.Body)',
    '\tfmt.Println(response.Status, string(result), err)',
    '}',
  ]);
}
