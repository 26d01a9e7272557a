import { parseDetails } from '../../access/audit-log.js';
import type { Taker } from '../../staff/remarks.js';
import { REMARK_ACTIONS } from '../actions/remarks.js';
import { html, type Html } from '../html.js';
import type { History } from '../reading/timeline.js';
import { actionForm, type OpenForm, type ShownResource } from './action-form.js';
import { section, time } from './layout.js';

/** Offers to take the item, to take it over, or to release it. */
export function takingForms<Resource>(
  shown: ShownResource<Resource>,
  taker: Taker | null,
): readonly Html[] {
  const { take, release } = REMARK_ACTIONS;
  if (taker === null) return [actionForm(shown, take, null)];
  if (taker.name === shown.person.identity.name) return [actionForm(shown, release, null)];
  return [actionForm(shown, { ...take, label: 'Take it over' }, null)];
}

export function noteSection<Resource>(
  shown: ShownResource<Resource>,
  { notes }: History,
  timeZone: string,
  open: OpenForm | null,
): Html {
  const { note } = REMARK_ACTIONS;
  const lines = notes.map((row) => {
    const written = String(parseDetails(row).note).split('\n');
    return html`<li>
      <strong>${row.actorClaimed}</strong> ${time(row.at, timeZone)}
      ${written.map((one) => html`<p>${one}</p>`)}
    </li>`;
  });
  const form = actionForm(shown, note, open?.verb === note.verb ? open : null);
  const all = html`<ol class="story">
    ${lines}
  </ol>`;
  return section('notes', 'Notes', [lines.length > 0 && all, form]);
}
