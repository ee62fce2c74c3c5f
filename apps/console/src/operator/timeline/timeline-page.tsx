import { FactList } from '../../layout/layout.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { type PageMessage, renderPage } from '../administration/operator-page.js';
import { formatCents, OperatorTable, UtcTime } from '../administration/operator-table.js';
import { MerchantLink } from '../links.js';
import type { FoundSubject, TimelineSearch } from './timeline.js';
import { MissingParts, TimelineTable } from './timeline-table.js';

/** The fields of the search, as text. */
export interface TimelineChoice {
  readonly find: string;
  readonly day: string;
  readonly mode: string;
}

interface TimelinePage {
  readonly viewer: OperatorViewer;
  readonly choice: TimelineChoice;
  /** Undefined before a search, and for one that is not understood. */
  readonly result?: TimelineSearch | undefined;
  readonly message?: PageMessage | undefined;
}

export function renderTimelinePage({ viewer, choice, result, message }: TimelinePage): string {
  return renderPage({
    title: 'Find a payment',
    viewer,
    current: 'home',
    message,
    children: (
      <>
        <FindForm {...choice} />
        {result === undefined ? null : <Result choice={choice} result={result} />}
      </>
    ),
  });
}

/** The search for any payment, session or invoice. */
export function FindForm({ find, day, mode }: TimelineChoice) {
  return (
    <form class="filters" method="get" action="/operator/timeline" role="search">
      <label>
        Reference, order number, session, invoice, code, or last four digits
        <input type="search" name="find" value={find} maxlength={200} required />
      </label>
      <label>
        Day (UTC), for last four digits
        <input type="date" name="day" value={day} />
      </label>
      <label>
        Mode
        <select name="mode">
          {['', 'test', 'live'].map((value) => (
            <option value={value} selected={value === mode}>
              {value === '' ? 'test and live' : value}
            </option>
          ))}
        </select>
      </label>
      <button>Find</button>
    </form>
  );
}

function Result({ choice, result }: { readonly choice: TimelineChoice; readonly result: TimelineSearch }) {
  const { matches, timeline, hasMore, missing } = result;
  if (timeline) {
    return (
      <section class="card">
        <Subject subject={timeline.subject} />
        <TimelineTable timeline={timeline} />
      </section>
    );
  }
  return (
    <>
      <MissingParts missing={missing} />
      <OperatorTable
        caption="Matches, the newest first"
        empty="Nothing is found. The log lines of the services have paymentReference, order and requestId (docs/operations.md)."
        rows={matches}
        columns={[
          ['Time (UTC)', ({ utcDate }) => <UtcTime at={utcDate} />],
          ['Payment, session or invoice', (match) => <a href={pathTo(match, choice)}>{match.reference}</a>],
          ['Order', ({ orderReference }) => orderReference],
          ['Merchant', ({ merchantId, merchantName }) => `${merchantName} (${merchantId})`],
          ['Mode', ({ mode }) => mode],
          ['Amount', ({ amount, currencyISOCode }) => formatCents(amount, currencyISOCode)],
          ['State', ({ state }) => state],
        ]}
      />
      {hasMore ? <p>There are further matches. Choose a day or a mode.</p> : null}
    </>
  );
}

function Subject({ subject }: { readonly subject: FoundSubject }) {
  const { kind, reference, merchantId, merchantName, siteId, siteName, mode, amount, currencyISOCode, state } = subject;
  return (
    <>
      <h2>{`${kind} ${reference}`}</h2>
      <FactList>
        {[
          [
            'Merchant',
            <>
              {merchantName} (<MerchantLink merchantId={merchantId} />)
            </>,
          ],
          ['Site', `${siteName} (${siteId})`],
          ['Mode', mode],
          ['Amount', formatCents(amount, currencyISOCode)],
          ['State', state],
          ['Order', subject.orderReference],
        ]}
      </FactList>
    </>
  );
}

function pathTo({ reference }: FoundSubject, { mode }: TimelineChoice): string {
  return `/operator/timeline?${new URLSearchParams({ find: reference, ...(mode === '' ? {} : { mode }) }).toString()}`;
}
