import type { TimelineDetail } from '@svc/contracts';
import { formatAmount } from '../../languages/format.js';
import { Notice } from '../../layout/layout.js';
import type { MissingPart, OperatorTimeline, TimelineEntry } from './timeline.js';

/** Pages of operators are in English only, so amounts have its decimal mark. */
const ENGLISH = { decimalMark: '.' } as const;

/** All that happened to a payment, session or invoice, with times in UTC. */
export function TimelineTable({ timeline }: { timeline: OperatorTimeline }) {
  const { subject, entries, missing } = timeline;
  return (
    <>
      <MissingParts missing={missing} />
      <ol class="timeline">
        {entries.map((entry) => (
          <Entry entry={entry} currency={subject.currencyISOCode} />
        ))}
      </ol>
    </>
  );
}

/** The services that did not respond, so that an absent step is not mistaken for one that did not happen. */
export function MissingParts({ missing }: { missing: readonly MissingPart[] }) {
  return (
    <>
      {missing.map(({ service, part }) => (
        <Notice kind="problem">{`${service} does not respond. Missing: ${part}.`}</Notice>
      ))}
    </>
  );
}

function Entry({ entry, currency }: { entry: TimelineEntry; currency: string }) {
  const { utcDate, event, amount, service, details, traceId, requestId, isOpen } = entry;
  const texts = details.filter(({ name }) => name !== 'response');
  const response = details.find(({ name }) => name === 'response');
  return (
    <li>
      <time datetime={utcDate}>{utcDate.replace('T', ' ').replace('Z', '')}</time>
      <div>
        <strong>{event}</strong>
        {amount === undefined ? null : ` ${formatAmount(amount, currency, ENGLISH)}`}
        {isOpen ? ' (no outcome yet)' : null} <small>{service}</small>
        {texts.length === 0 ? null : <small>{texts.map(formatDetail).join(' · ')}</small>}
        {response ? <pre>{response.value}</pre> : null}
        {traceId === undefined ? null : (
          <small>
            trace <code>{traceId}</code>
          </small>
        )}
        {requestId === undefined ? null : (
          <small>
            request <code>{requestId}</code>
          </small>
        )}
      </div>
    </li>
  );
}

const formatDetail = ({ name, value }: TimelineDetail): string => `${name} ${value}`;
