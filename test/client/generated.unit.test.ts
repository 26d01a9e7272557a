import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { CLIENT_FOLDER, clientFiles } from '../../scripts/docs/client.js';
import { serviceDocument } from '../../scripts/docs/described-api.js';
import { POSTMAN_FILE, postmanCollection } from '../../scripts/docs/postman.js';
import { MoneyClient } from '../../packages/client/src/index.js';
import { list, object, text } from '../helpers/bank.js';

const MEND = 'npm run docs:client writes it anew';

describe('the files generated from the OpenAPI document', () => {
  it('the types and methods of the client are checked in as they are generated from the OpenAPI document', async () => {
    for (const [name, made] of Object.entries(await clientFiles()))
      assert.ok(
        readFileSync(`${CLIENT_FOLDER}/${name}`, 'utf8') === made,
        `${name} is out of date: ${MEND}`,
      );
  });

  it('the Postman collection is checked in as it is generated from the OpenAPI document', async () => {
    assert.ok(readFileSync(POSTMAN_FILE, 'utf8') === (await postmanCollection()), MEND);
  });

  it('the generated requests call only the given server, with or without the path of the API in its address', async () => {
    const asked: string[] = [];
    const fetch = (input: Request | URL | string): Promise<Response> => {
      asked.push(input instanceof Request ? input.url : input.toString());
      return Promise.resolve(Response.json({ items: [], next_cursor: null }));
    };
    for (const baseUrl of [
      'http://localhost:1',
      'http://localhost:1/',
      'http://localhost:1/v1',
      'http://localhost:1/v1/',
    ])
      for await (const _ of new MoneyClient({ baseUrl, token: 't', fetch }).listAccounts())
        assert.fail();
    assert.deepEqual([...new Set(asked)], ['http://localhost:1/v1/accounts']);
    assert.throws(() => new MoneyClient({ baseUrl: '', token: 't' }), /baseUrl is not an address/);
  });

  it('every operation has a method of the client and a request of the Postman collection', async () => {
    const { paths } = object(await serviceDocument());
    const operations = Object.values(object(paths)).flatMap((own) =>
      Object.values(object(own)).map(object),
    );
    const client = new MoneyClient({ baseUrl: 'http://localhost', token: '' });
    for (const { operationId } of operations)
      assert.ok(text(operationId) in client, text(operationId));
    const collection = object(JSON.parse(readFileSync(POSTMAN_FILE, 'utf8')));
    const requests = list(collection.item).flatMap(({ item }) => list(item));
    assert.deepEqual(
      requests.map(({ name }) => name).sort(),
      operations.map(({ summary }) => summary).sort(),
    );
  });
});
