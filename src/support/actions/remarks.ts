import { recordRemark, type REMARKS } from '../../staff/remarks.js';
import type { DeskAction } from './action.js';

function remark(
  verb: keyof typeof REMARKS,
  shown: Pick<DeskAction<unknown>, 'writes' | 'label' | 'explanation' | 'done'>,
): DeskAction<unknown> {
  return {
    ...shown,
    verb,
    name: null,
    isOffered: () => true,
    run: (deps, _, { by, reason, actionId, subject: { id: subjectId, ...subject } }) =>
      recordRemark(deps, verb, { ...subject, subjectId }, by, reason, actionId),
  };
}

/** Actions that any of the staff may perform on any resource. */
export const REMARK_ACTIONS = {
  note: remark('note', {
    writes: 'note',
    label: 'Add a note',
    explanation: 'Only the staff can read it. It cannot be changed or deleted.',
    done: 'The note is below.',
  }),
  take: remark('take', {
    writes: 'nothing',
    label: 'Take it',
    explanation: '',
    done: 'Taken for an hour. Anybody else can still decide it, or take it over.',
  }),
  release: remark('release', {
    writes: 'nothing',
    label: 'Release it',
    explanation: '',
    done: 'Released.',
  }),
};
