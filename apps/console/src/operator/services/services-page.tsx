import type { AdministeredService } from '@svc/contracts';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { renderPage } from '../administration/operator-page.js';
import { OperatorTable, UtcTime } from '../administration/operator-table.js';
import { MerchantLink } from '../links.js';

/** `GET /admin/v1/status/{service}`. */
export interface ServiceStatus {
  readonly service: AdministeredService;
  readonly version: string;
  readonly startedUTCDate: string;
  readonly relayAgeSeconds: number;
  readonly deadLetters: number;
  readonly deferred: number;
  readonly broker: string;
}

/** A service that did not respond in time. */
export type ServiceLine = ServiceStatus | { readonly service: AdministeredService; readonly problem: string };

/** `GET /admin/v1/notifications/circuits`. */
export interface Circuit {
  readonly merchantId: number;
  readonly endpoint: string;
  readonly failures: number;
  /** Null before the fifth failure. */
  readonly openUntil: string | null;
  readonly pending: number;
}

interface ServicesPage {
  readonly viewer: OperatorViewer;
  readonly services: readonly ServiceLine[];
  /** Undefined if webhook-dispatcher did not respond. */
  readonly circuits: readonly Circuit[] | undefined;
}

export function renderServicesPage({ viewer, services, circuits }: ServicesPage): string {
  const running = (line: ServiceLine): ServiceStatus | undefined => ('version' in line ? line : undefined);
  return renderPage({
    title: 'Services',
    viewer,
    current: 'services',
    children: (
      <>
        <OperatorTable
          caption="State of each service"
          empty=""
          rows={services}
          columns={[
            ['Service', ({ service }) => <a href={`/operator/services/${service}`}>{service}</a>],
            ['Version', (line) => running(line)?.version ?? ('problem' in line ? line.problem : '')],
            ['Started (UTC)', (line) => running(line) && <UtcTime at={running(line)!.startedUTCDate} />],
            ['Oldest event not delivered', (line) => running(line) && `${running(line)!.relayAgeSeconds} s`],
            ['Dead letters', (line) => running(line)?.deadLetters],
            ['Deferred events', (line) => running(line)?.deferred],
            ['RabbitMQ', (line) => running(line)?.broker],
          ]}
        />
        <OperatorTable
          caption="Endpoints of merchants that fail"
          empty={circuits ? 'All endpoints respond.' : 'webhook-dispatcher did not respond.'}
          rows={circuits ?? []}
          columns={[
            ['Merchant', ({ merchantId }) => <MerchantLink merchantId={merchantId} />],
            ['Endpoint', ({ endpoint }) => endpoint],
            ['Failures in a row', ({ failures }) => failures],
            ['Nothing is sent until (UTC)', ({ openUntil }) => openUntil && <UtcTime at={openUntil} />],
            ['Notifications that wait', ({ pending }) => pending],
          ]}
        />
      </>
    ),
  });
}
