import type { operations } from './generated/schema.js';

/** Arguments and results of operations, from the document's types. */

type Id = keyof operations;

type Json<Message> = Message extends { content: { 'application/json': infer Body } } ? Body : never;

export type BodyOf<Op extends Id> = operations[Op] extends { requestBody: infer Body }
  ? Json<Body>
  : never;

export type FormOf<Op extends Id> = operations[Op] extends {
  requestBody: { content: { 'multipart/form-data': infer Form } };
}
  ? Form
  : never;

export type QueryOf<Op extends Id> = operations[Op] extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never;

export type ParamOf<Op extends Id, Name extends string> = operations[Op] extends {
  parameters: { path: { [Key in Name]: infer Value } };
}
  ? Value
  : never;

type Answers<Op extends Id> = operations[Op]['responses'];

/** The body of an operation's successful answers; void if they have none. */
export type ResultOf<Op extends Id> = 204 extends keyof Answers<Op>
  ? void
  : {
      [Status in keyof Answers<Op> & (200 | 201 | 202)]: Json<Answers<Op>[Status]>;
    }[keyof Answers<Op> & (200 | 201 | 202)];
