import type { FailedCall } from '@svc/contracts';
import { formatPosition } from '../../layout/page-position.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import { developersPath, renderDevelopersPage } from '../developers-frame.js';

interface FailedCallsPage {
  readonly viewer: MerchantViewer;
  readonly calls: readonly FailedCall[];
  readonly hasMore: boolean;
  readonly isFirst: boolean;
}

export function renderFailedCallsPage({ viewer, calls, hasMore, isFirst }: FailedCallsPage): string {
  const { calls: texts, developers } = viewer.texts;
  const path = `${developersPath(viewer)}/calls`;
  const last = calls.at(-1);
  const next = last && formatPosition({ time: new Date(last.calledUTCDate), id: last.requestId });
  return renderDevelopersPage({
    viewer,
    tab: 'calls',
    title: texts.title,
    children: (
      <section class="card">
        <p class="small">{texts.text}</p>
        {calls.length === 0 ? <p class="empty">{texts.empty}</p> : <Table {...{ viewer, calls }} />}
        <p class="pages">
          {isFirst ? null : <a href={path}>{developers.newest}</a>}
          {hasMore && next ? <a href={`${path}?after=${next}`}>{developers.older}</a> : null}
        </p>
      </section>
    ),
  });
}

function Table({ viewer, calls }: { viewer: MerchantViewer; calls: readonly FailedCall[] }) {
  const { calls: texts, developers } = viewer.texts;
  return (
    <table class="rows">
      <caption class="hidden">{texts.title}</caption>
      <thead>
        <tr>
          <th scope="col">{developers.time}</th>
          <th scope="col">{texts.method}</th>
          <th scope="col">{texts.status}</th>
          <th scope="col">{texts.code}</th>
          <th scope="col">{texts.requestId}</th>
        </tr>
      </thead>
      <tbody>
        {calls.map((call) => (
          <Row key={call.requestId} {...{ viewer, call }} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ viewer, call }: { viewer: MerchantViewer; call: FailedCall }) {
  const { calledUTCDate, method, path, statusCode, errorCode, requestId } = call;
  return (
    <tr>
      <td>
        <time datetime={calledUTCDate}>{viewer.clock.format(calledUTCDate)}</time>
      </td>
      <td class="wide">
        <code>{`${method} ${path}`}</code>
      </td>
      <td>{statusCode}</td>
      <td>
        <code>{errorCode}</code>
      </td>
      <td>
        <code>{requestId}</code>
      </td>
    </tr>
  );
}
