import { refName, type Schema, type Schemas } from '../../openapi/document.js';
import type { ApiEvent } from '../../../../src/http/route.js';
import { html, type Html } from '../../../../src/support/html.js';
import { codeBlock } from '../html.js';
import { sectionOf, type SitePage } from '../layout.js';
import { renderMarkdown } from '../markdown-page.js';
import { fieldList, foldedFields } from './article.js';
import { type Field, fieldsOf } from './fields.js';
import { blocks, fence, fieldLines } from './markdown.js';
import type { ApiObject, Links } from './objects.js';
import { nameOf, resolveSchema } from './schema.js';

/** The page of webhook deliveries. */

interface DeliveriesDeps {
  readonly path: string;
  readonly events: readonly ApiEvent[];
  readonly schemas: Schemas;
  readonly objects: readonly ApiObject[];
  readonly links: Readonly<Record<'html' | 'markdown', Links>>;
}

/** A type of event. */
interface Delivery {
  readonly event: ApiEvent;
  /** A sentence about `data.object` in Markdown; empty if the event has no resource. */
  readonly resource: string;
  /** The fields of the resource, unless an object has them, or those of an event without a resource. */
  readonly fields: readonly Field[];
}

const EVERY_EVENT = { id: 'event', title: 'Every event' };
const NOT_SENT = 'Only in the log: no webhook is sent.';

export function deliveriesPage(deps: DeliveriesDeps): SitePage {
  const { path, events, links } = deps;
  const { id, title } = EVERY_EVENT;
  const content = (): Html =>
    html`${renderMarkdown(introduction(links.html))}
      <h2 id="${id}"><a href="#${id}">${title}</a></h2>
      ${renderMarkdown(envelope(links.html))} ${deliveriesOf(deps, links.html).map(deliveryArticle)}`;
  const markdown = blocks([
    '# Deliveries',
    introduction(links.markdown),
    `## ${title}`,
    envelope(links.markdown),
    ...deliveriesOf(deps, links.markdown).map(deliveryMarkdown),
  ]);
  const sections = [
    sectionOf(id, title, 'envelope id type sequence data'),
    ...events.map(({ type, summary, description }) =>
      sectionOf(slug(type), type, `${summary} ${description}`),
    ),
  ];
  const description = 'the body of each event';
  return { path, title: 'Deliveries', description, content, markdown, sections };
}

function introduction({ urlOf }: Links): string {
  return `The events that your endpoints receive and that the log holds. See [when each is sent](${urlOf('/events')}) and
[how to verify it](${urlOf('/webhooks')}).`;
}

function envelope({ document }: Links): string {
  return `Every event has the fields of ${nameOf('Event', document.components.schemas)}. The types below say what its \`data.object\` is.`;
}

function deliveriesOf(
  { events, schemas, objects }: DeliveriesDeps,
  { document }: Links,
): Delivery[] {
  const { schemas: linked } = document.components;
  const refs = schemas.Event?.discriminator?.mapping ?? {};
  return events.map((event) => {
    const schema = { $ref: refs[event.type] ?? '#/components/schemas/WebhookTest' };
    const data = resolveSchema(schema, schemas).properties?.data?.properties?.object;
    const name = data && refName(data);
    if (data === undefined || name === undefined)
      return { event, resource: '', fields: fieldsOf(schema, linked, 'response') };
    const { properties = {} } = schemas[name] ?? {};
    const whole = objects.find((one) => hasAll(one.schema.properties ?? {}, properties));
    const left = Object.keys(whole?.schema.properties ?? {}).filter((own) => !(own in properties));
    const without = left.length === 0 ? '' : ` without \`${left.join('`, `')}\``;
    return {
      event,
      resource: `\`data.object\`: ${nameOf(whole?.name ?? name, linked)}${without}.`,
      fields: whole === undefined ? fieldsOf(data, linked, 'response') : [],
    };
  });
}

/** Tells whether all of these fields are also among the others, in the same form. */
function hasAll(others: Schemas, fields: Schemas): boolean {
  const isSame = ([name, one]: [string, Schema]): boolean =>
    JSON.stringify(others[name]) === JSON.stringify(one);
  return Object.entries(fields).every(isSame);
}

function deliveryArticle({ event, resource, fields }: Delivery): Html {
  const { type, summary, isDelivered, example } = event;
  return html`<article id="${slug(type)}">
    <h2><a href="#${slug(type)}">${type}</a></h2>
    <p>${summary}.</p>
    ${renderMarkdown(`${resource}${isDelivered ? '' : ` ${NOT_SENT}`}`)}
    ${resource === '' ? fieldList(fields) : foldedFields(fields)}
    <details>
      <summary>Example</summary>
      ${codeBlock(JSON.stringify(example, null, 2), 'json')}
    </details>
  </article>`;
}

function deliveryMarkdown({ event, resource, fields }: Delivery): string {
  const { type, summary, isDelivered, example } = event;
  return blocks([
    `## ${type}`,
    `${summary}.${isDelivered ? '' : ` ${NOT_SENT}`}`,
    resource,
    fieldLines(fields),
    fence({ language: 'json', text: JSON.stringify(example, null, 2) }),
  ]);
}

function slug(type: string): string {
  return type.replaceAll(/[^a-z]+/g, '-');
}
