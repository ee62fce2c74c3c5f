import type { SettlementMovement, SettlementMovementPage } from '@svc/contracts';
import { formatAmount } from '../languages/format.js';
import { pathOf, renderDocument } from '../layout/layout.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import {
  AccountTable,
  formatPeriod,
  KindsTable,
  pathOfPeriod,
  PeriodNavigation,
  type PeriodPage,
  SettlementStatus,
  SiteOfPeriod,
} from './account-summary.js';
import { monthOf } from './periods.js';
import { summarise } from './summary.js';

interface DayPage extends PeriodPage {
  readonly movements: SettlementMovementPage;
  /** Whether the page begins with the first movement of the day. */
  readonly isFirst: boolean;
}

/** A day: the balance, and each movement with its payment. */
export function renderDayPage(page: DayPage): string {
  const { viewer, period, account, movements, isFirst } = page;
  const { texts } = viewer;
  const title = `${texts.settlements.title}, ${formatPeriod(viewer, period)}`;
  const path = pathOfPeriod(page, period);
  const next =
    movements.next &&
    `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ after: movements.next }).toString()}`;
  return renderDocument({
    title,
    texts,
    viewer,
    current: 'settlements',
    children: (
      <>
        <p>
          <a href={pathOfPeriod(page, monthOf(period))}>{formatPeriod(viewer, monthOf(period))}</a>
        </p>
        <h1>{title}</h1>
        <PeriodNavigation {...page} />
        <SiteOfPeriod {...page} />
        <div class="columns">
          {summarise(account).map((summary) => (
            <section class="card">
              <AccountTable {...{ viewer, summary }} />
              {summary.totals ? <KindsTable {...{ viewer, totals: summary.totals }} /> : null}
            </section>
          ))}
          <section class="card">
            <SettlementStatus {...page} />
            <p class="small">{texts.settlements.note}</p>
          </section>
        </div>
        <section class="card">
          {movements.movements.length === 0 ? (
            <p class="empty">{texts.settlements.emptyDay}</p>
          ) : (
            <MovementTable {...{ viewer, movements: movements.movements }} />
          )}
          <p class="pages">
            {isFirst ? null : <a href={path}>{texts.settlements.firstMovements}</a>}
            {next === undefined ? null : <a href={next}>{texts.settlements.moreMovements}</a>}
          </p>
        </section>
      </>
    ),
  });
}

function MovementTable({ viewer, movements }: { viewer: MerchantViewer; movements: readonly SettlementMovement[] }) {
  const { texts, clock } = viewer;
  const { settlements: words } = texts;
  const showsSite = viewer.merchant.sites.length > 1;
  return (
    <table class="payments">
      <caption>{words.movements}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.payments.time}</th>
          <th scope="col">{words.columns.kind}</th>
          <th scope="col">{texts.payments.order}</th>
          {showsSite ? <th scope="col">{texts.payments.site}</th> : null}
          <th scope="col" class="number">
            {texts.payments.amount}
          </th>
        </tr>
      </thead>
      <tbody>
        {movements.map((movement) => (
          <tr>
            <td>
              <time datetime={movement.createdUTCDate}>{clock.formatTime(movement.createdUTCDate)}</time>
            </td>
            <td>{words.types[movement.type]}</td>
            <td>
              <a class="order" href={`${pathOf(viewer)}/payments/${movement.svcId}`}>
                {movement.externalReference || movement.svcId}
              </a>
            </td>
            {showsSite ? <td>{siteName(viewer, movement.siteId)}</td> : null}
            <td class="number">{formatAmount(movement.amount, movement.currencyISOCode, texts)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
