import type { OperatorViewer } from '../../viewer/viewer.js';
import { renderPage } from '../administration/operator-page.js';
import { OperatorTable, UtcTime } from '../administration/operator-table.js';
import { MerchantLink } from '../links.js';

/** `GET /admin/v1/audit-log`. */
export interface AuditLogEntry {
  readonly entryId: number;
  readonly changedUTCDate: string;
  readonly service: string;
  readonly actor: string;
  readonly requestId: string;
  readonly action: string;
  readonly merchantId?: number;
  readonly siteId?: number;
  readonly organisationId?: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

interface AuditLogPage {
  readonly viewer: OperatorViewer;
  readonly entries: readonly AuditLogEntry[];
  readonly isNewest: boolean;
}

/** Entries of a whole page of the administration API. */
const PAGE_SIZE = 100;

export function renderAuditLogPage({ viewer, entries, isNewest }: AuditLogPage): string {
  const last = entries.at(-1);
  return renderPage({
    title: 'Audit log',
    viewer,
    current: 'auditLog',
    children: (
      <>
        <OperatorTable
          caption="Changes, the newest first"
          empty="There are no further entries."
          rows={entries}
          columns={[
            ['Time (UTC)', ({ changedUTCDate }) => <UtcTime at={changedUTCDate} />],
            ['Action', ({ action }) => action],
            ['Author', ({ actor }) => <code>{actor}</code>],
            ['Service', ({ service }) => service],
            ['Merchant', ({ merchantId }) => merchantId && <MerchantLink merchantId={merchantId} />],
            ['Site', ({ siteId }) => siteId],
            ['Before', ({ before }) => before !== undefined && <code>{JSON.stringify(before)}</code>],
            ['After', ({ after }) => after !== undefined && <code>{JSON.stringify(after)}</code>],
            ['Request', ({ requestId }) => <code>{requestId}</code>],
          ]}
        />
        <p class="pages">
          {isNewest ? null : <a href="/operator/audit-log">Newest entries</a>}
          {last && entries.length === PAGE_SIZE ? (
            <a href={`/operator/audit-log?before=${last.entryId}`}>Older entries</a>
          ) : null}
        </p>
      </>
    ),
  });
}
