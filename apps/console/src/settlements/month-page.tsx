import type { SettlementDay } from '@svc/contracts';
import { formatAmount } from '../languages/format.js';
import { renderDocument } from '../layout/layout.js';
import {
  AccountTable,
  formatPeriod,
  KindsTable,
  pathOfPeriod,
  PeriodForm,
  PeriodNavigation,
  type PeriodPage,
  SettlementStatus,
  SiteOfPeriod,
} from './account-summary.js';
import { DayChart } from './day-chart.js';
import { findTotals, groupTotals, summarise, type Summary } from './summary.js';

/** A month: the balance, a chart of the sales, and the sums of each day. */
export function renderMonthPage(page: PeriodPage): string {
  const { viewer, period, account } = page;
  const { texts } = viewer;
  const title = `${texts.settlements.title}, ${formatPeriod(viewer, period)}`;
  return renderDocument({
    title,
    texts,
    viewer,
    current: 'settlements',
    children: (
      <>
        <h1>{title}</h1>
        <PeriodForm {...page} />
        <PeriodNavigation {...page} />
        <SiteOfPeriod {...page} />
        {summarise(account).map((summary) => (
          <Month page={page} summary={summary} />
        ))}
        <section class="card">
          <SettlementStatus {...page} />
        </section>
      </>
    ),
  });
}

function Month({ page, summary }: { page: PeriodPage; summary: Summary }) {
  const { viewer, account } = page;
  const { currency, totals } = summary;
  const days = account.days.map(({ day, totals: ofDay }) => ({ day, ...groupTotals(findTotals(ofDay, currency)) }));
  return (
    <>
      <div class="columns">
        <section class="card">
          <AccountTable {...{ viewer, summary }} />
          <p class="small">{viewer.texts.settlements.note}</p>
          {totals ? <KindsTable {...{ viewer, totals }} /> : null}
        </section>
        {totals ? (
          <section class="card">
            <DayChart {...{ viewer, currency, days }} />
          </section>
        ) : null}
      </div>
      <section class="card">
        {totals ? <DayTable {...{ page, summary }} /> : <p class="empty">{viewer.texts.settlements.empty}</p>}
      </section>
    </>
  );
}

const COLUMNS = ['sales', 'refunds', 'disputes', 'fees', 'net'] as const;

/** The days with movements. On a phone each day is a block, in which each amount has its name. */
function DayTable({ page, summary }: { page: PeriodPage; summary: Summary }) {
  const { texts } = page.viewer;
  const { columns, status, days: caption } = texts.settlements;
  const format = (cents: number): string => formatAmount(cents, summary.currency, texts);
  const withMovements = page.account.days.filter((day) => findTotals(day.totals, summary.currency) !== undefined);
  return (
    <table class="days">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{columns.day}</th>
          {COLUMNS.map((name) => (
            <th scope="col" class="number">
              {columns[name]}
            </th>
          ))}
          <th scope="col">{columns.status}</th>
        </tr>
      </thead>
      <tbody>
        {withMovements.map((day) => (
          <DayRow {...{ page, summary, day }} />
        ))}
      </tbody>
      <tfoot>
        <tr class="total">
          <th scope="row">{columns.month}</th>
          {COLUMNS.map((name) => (
            <td class="number" data-label={columns[name]}>
              {format(summary[name])}
            </td>
          ))}
          <td>{status.short[page.account.statement.status]}</td>
        </tr>
      </tfoot>
    </table>
  );
}

function DayRow({ page, summary, day }: { page: PeriodPage; summary: Summary; day: SettlementDay }) {
  const { texts } = page.viewer;
  const { columns, status } = texts.settlements;
  const changes = groupTotals(findTotals(day.totals, summary.currency));
  return (
    <tr>
      <th scope="row">
        <a href={pathOfPeriod(page, day.day)}>{day.day}</a>
      </th>
      {COLUMNS.map((name) => (
        <td class={changes[name] === 0 ? 'number zero' : 'number'} data-label={columns[name]}>
          {formatAmount(changes[name], summary.currency, texts)}
        </td>
      ))}
      <td>{status.short[day.status]}</td>
    </tr>
  );
}
