import type { OperatorViewer } from '../../viewer/viewer.js';
import { renderPage } from '../administration/operator-page.js';
import { formatCents, OperatorTable, UtcTime } from '../administration/operator-table.js';
import { MerchantLink, PaymentLink } from '../links.js';

/** `GET /admin/v1/open-cases`. */
interface OpenCase {
  readonly kind: 'unknownOutcome' | 'reversal' | 'capture' | 'incident' | 'refundIncident' | 'report';
  readonly sinceUTCDate: string;
  readonly svcId: string | null;
  readonly merchantId: number | null;
  readonly mode: string;
  readonly acquirer: string;
  readonly acquirerReference: string | null;
  readonly state: string;
  readonly detail: string | null;
}

/** `GET /admin/v1/refunds?state=pending`. */
interface PendingRefund {
  readonly refundReference: string;
  readonly svcId: string;
  readonly merchantId: number;
  readonly mode: string;
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly acquirer: string;
  readonly createdUTCDate: string;
  readonly incidents: number;
}

/** `GET /admin/v1/disputes`. */
interface Dispute {
  readonly svcId: string;
  readonly merchantId: number;
  readonly mode: string;
  readonly stage: string;
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly reason: string;
  readonly respondByUTCDate: string | null;
  readonly acquirerReference: string;
}

export interface OpenCases {
  readonly cases: readonly OpenCase[];
  readonly refunds: readonly PendingRefund[];
  readonly disputes: readonly Dispute[];
}

const KINDS: Readonly<Record<OpenCase['kind'], string>> = {
  unknownOutcome: 'Charges without an outcome',
  reversal: 'Reversals that the acquirer has not confirmed',
  capture: 'Captures that are late or failed',
  incident: 'Answers of an acquirer that contradict a charge',
  refundIncident: 'Answers of an acquirer that contradict a refund',
  report: 'Webhooks of an acquirer that contradict a payment',
};

export function renderCasesPage({ viewer, cases, refunds, disputes }: { viewer: OperatorViewer } & OpenCases): string {
  const kinds = (Object.keys(KINDS) as OpenCase['kind'][]).filter((kind) => cases.some((entry) => entry.kind === kind));
  return renderPage({
    title: 'Open cases',
    viewer,
    current: 'cases',
    children: (
      <>
        {cases.length === 0 ? <p>The platform and the acquirers agree about every charge.</p> : null}
        {kinds.map((kind) => (
          <OperatorTable
            caption={KINDS[kind]}
            empty=""
            rows={cases.filter((entry) => entry.kind === kind)}
            columns={[
              ['Since (UTC)', ({ sinceUTCDate }) => <UtcTime at={sinceUTCDate} />],
              ['Payment', ({ svcId }) => svcId && <PaymentLink reference={svcId} />],
              ['Merchant', ({ merchantId }) => merchantId && <MerchantLink merchantId={merchantId} />],
              ['Mode', ({ mode }) => mode],
              ['Acquirer', ({ acquirer, acquirerReference }) => `${acquirer} ${acquirerReference ?? ''}`],
              ['State', ({ state }) => state],
              ['Detail', ({ detail }) => detail],
            ]}
          />
        ))}
        <OperatorTable
          caption="Refunds that wait for the acquirer"
          empty="No refund waits."
          rows={refunds}
          columns={[
            ['Since (UTC)', ({ createdUTCDate }) => <UtcTime at={createdUTCDate} />],
            ['Payment', ({ svcId }) => <PaymentLink reference={svcId} />],
            ['Merchant', ({ merchantId }) => <MerchantLink merchantId={merchantId} />],
            ['Mode', ({ mode }) => mode],
            ['Amount', ({ amount, currencyISOCode }) => formatCents(amount, currencyISOCode)],
            ['Acquirer', ({ acquirer }) => acquirer],
            ['Contradictions', ({ incidents }) => incidents],
          ]}
        />
        <OperatorTable
          caption="Disputes, the nearest deadline first"
          empty="There is no dispute."
          rows={disputes}
          columns={[
            ['Respond by (UTC)', ({ respondByUTCDate }) => respondByUTCDate && <UtcTime at={respondByUTCDate} />],
            ['Payment', ({ svcId }) => <PaymentLink reference={svcId} />],
            ['Merchant', ({ merchantId }) => <MerchantLink merchantId={merchantId} />],
            ['Mode', ({ mode }) => mode],
            ['Stage', ({ stage }) => stage],
            ['Amount', ({ amount, currencyISOCode }) => formatCents(amount, currencyISOCode)],
            ['Reason', ({ reason }) => reason],
            ['Reference', ({ acquirerReference }) => acquirerReference],
          ]}
        />
      </>
    ),
  });
}
