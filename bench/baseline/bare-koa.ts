import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { transferResource } from '../../src/transfers/schemas.js';

/** The process of a bare Koa server, which reads every body and answers with the JSON of a transfer. */
const app = new Koa();
app.use(async (context) => {
  let text = '';
  for await (const piece of context.req.setEncoding('utf8')) text += String(piece);
  JSON.parse(text);
  context.status = 201;
  context.body = transferResource.example;
});
const server = app.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.once('disconnect', () => process.exit(0));
