import { canOperate } from '@svc/contracts';
import { PostForm } from '../../layout/form-elements.js';
import { FactList } from '../../layout/layout.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { type PageMessage, renderPage } from '../administration/operator-page.js';
import { OperatorTable, UtcTime } from '../administration/operator-table.js';
import { MerchantLink, PaymentLink } from '../links.js';

/** `GET /admin/v1/reconciliations`. */
export interface RunSummary {
  readonly runId: string;
  readonly day: string;
  readonly merchantId: number | null;
  readonly state: string;
  readonly requestedUTCDate: string;
  readonly differences: number | null;
  readonly open: number | null;
}

/** `GET /admin/v1/reconciliations/{runId}`. */
export interface RunView {
  readonly day: string;
  readonly merchantId: number | null;
  readonly state: string;
  readonly watermark: string | null;
  readonly result: {
    readonly differences: number;
    readonly open: number;
    readonly isWholeDay: boolean;
    readonly pastRetention: readonly string[];
    readonly merchants: readonly Readonly<Record<string, unknown>>[];
    readonly listedDifferences: readonly Readonly<Record<string, unknown>>[];
  } | null;
  readonly failure: string | null;
}

interface ReconciliationsPage {
  readonly viewer: OperatorViewer;
  readonly runs: readonly RunSummary[];
  readonly message?: PageMessage | undefined;
}

export function renderReconciliationsPage({ viewer, runs, message }: ReconciliationsPage): string {
  return renderPage({
    title: 'Reconciliations',
    viewer,
    current: 'reconciliations',
    message,
    children: (
      <>
        <p>
          Each night compares the payments of the days before with the ledger, the acquirers and the copies in other
          services.
        </p>
        {canOperate(viewer.operatorRole, 'change') ? (
          <PostForm viewer={viewer} action="/operator/reconciliations" class="filters" data-once>
            <label>
              Day (UTC)
              <input type="date" name="day" required />
            </label>
            <button>Compare this day now</button>
          </PostForm>
        ) : null}
        <OperatorTable
          caption="Runs, the newest day first"
          empty="Nothing has been compared yet."
          rows={runs}
          columns={[
            ['Day (UTC)', ({ day, runId }) => <a href={`/operator/reconciliations/${runId}`}>{day}</a>],
            ['Requested (UTC)', ({ requestedUTCDate }) => <UtcTime at={requestedUTCDate} />],
            ['Merchant', ({ merchantId }) => (merchantId === null ? 'all' : <MerchantLink merchantId={merchantId} />)],
            ['State', ({ state }) => state],
            ['Differences', ({ differences }) => differences],
            ['Without an outcome yet', ({ open }) => open],
          ]}
        />
      </>
    ),
  });
}

export function renderRunPage({ viewer, run }: { readonly viewer: OperatorViewer; readonly run: RunView }): string {
  const { day, merchantId, state, watermark, result, failure } = run;
  return renderPage({
    title: `Reconciliation of ${day}`,
    viewer,
    current: 'reconciliations',
    children: (
      <>
        <section class="card">
          <FactList>
            {[
              ['Merchant', merchantId === null ? 'all' : <MerchantLink merchantId={merchantId} />],
              ['State', state],
              ['Compared until (UTC)', watermark === null ? '' : <UtcTime at={watermark} />],
              ['Failure', failure ?? ''],
              ['Differences', result?.differences ?? ''],
              ['Payments, charges and refunds without an outcome yet', result?.open ?? ''],
              ['Whole day', result === null ? '' : result.isWholeDay ? 'yes' : 'no, the day was not over'],
              ['Not compared, because rows are deleted', result?.pastRetention.join(', ') ?? ''],
            ]}
          </FactList>
        </section>
        {result === null ? null : (
          <>
            <RecordTable caption="Differences" empty="All books agree." rows={result.listedDifferences} />
            <RecordTable caption="Merchants" empty="The day has no payments." rows={result.merchants} />
          </>
        )}
      </>
    ),
  });
}

/** Records whose members depend on the books, as the reconciliation lists them. */
function RecordTable({
  caption,
  empty,
  rows,
}: {
  readonly caption: string;
  readonly empty: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <OperatorTable
      {...{ caption, empty, rows }}
      columns={names.map((name) => [
        name,
        (row: Readonly<Record<string, unknown>>) => <Value {...{ name, value: row[name] }} />,
      ])}
    />
  );
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') return typeof value === 'number' ? <>{value}</> : <code>{JSON.stringify(value)}</code>;
  return name === 'svcId' || name === 'paymentReference' ? <PaymentLink reference={value} /> : <>{value}</>;
}
