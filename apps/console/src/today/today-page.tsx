import { MAX_UNDELIVERED_COUNT, type UndeliveredCount } from '@svc/contracts';
import type { DisputesToAnswer } from '../disputes/list-disputes.query.js';
import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import { CURRENCY, formatAmount } from '../languages/format.js';
import { pathOf, renderDocument } from '../layout/layout.js';
import type { ListedPayment } from '../payments/list-payments.query.js';
import { PaymentTable } from '../payments/payment-rows.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { UNDELIVERED_DAYS } from './find-undelivered.js';
import { HourChart } from './hour-chart.js';
import { approvalPercent, averageSale, type DaySums } from './today.js';

export interface TodayPage {
  readonly viewer: MerchantViewer;
  /** The merchant's day, such as `2026-11-20`. */
  readonly day: string;
  readonly isToday: boolean;
  /** The days beside it, if the page shows them. */
  readonly previous: string | undefined;
  readonly next: string | undefined;
  /** IANA name. */
  readonly zone: string;
  readonly today: DaySums;
  /** The same weekday a week before; for today, until the same time. */
  readonly before: DaySums;
  readonly newest: readonly ListedPayment[];
  /** Undefined if there are none, or if the person may not see them. */
  readonly disputes: DisputesToAnswer | undefined;
  /** Webhooks of the last days that were given up, on the page of today. */
  readonly undelivered: readonly UndeliveredCount[];
  /** Local times at which the hours of the day begin. */
  readonly labels: readonly string[];
}

export function renderTodayPage(page: TodayPage): string {
  const { viewer, day, isToday } = page;
  const { texts } = viewer;
  return renderDocument({
    title: isToday ? texts.today.title : titleOf(texts, day),
    texts,
    viewer,
    current: 'today',
    children: <TodayContent {...page} />,
  });
}

const weekdayOf = (texts: Texts, day: string): string => texts.weekdays[new Date(day).getUTCDay()]!;

const titleOf = (texts: Texts, day: string): string =>
  fill(texts.today.titleOf, { day, weekday: weekdayOf(texts, day) });

/** The content. On the page of today it shows new payments by itself, and after midnight the new day. */
export function TodayContent(page: TodayPage) {
  const { viewer, day, isToday, zone, today, before, newest, disputes, undelivered, labels } = page;
  const { texts } = viewer;
  return (
    <div data-live={isToday ? `${pathOf(viewer)}/live` : undefined}>
      <h1>{isToday ? `${texts.today.title}, ${day}` : titleOf(texts, day)}</h1>
      <Days {...page} />
      {disputes ? <DisputesLine {...{ viewer, disputes }} /> : null}
      {undelivered.length === 0 ? null : <UndeliveredLine {...{ viewer, undelivered }} />}
      <Figures {...page} />
      {today.paid === 0 && today.failed === 0 ? (
        <p class="card empty">{isToday ? texts.today.empty : texts.payments.empty}</p>
      ) : (
        <div class="columns">
          <section class="card">
            <HourChart viewer={viewer} currency={CURRENCY} hours={today.hours} labels={labels} />
          </section>
          <section class="card">
            <h2>{texts.today.bySite}</h2>
            <Sites viewer={viewer} today={today} before={before} />
            <h2>{texts.today.byOutcome}</h2>
            <Outcomes viewer={viewer} today={today} />
          </section>
        </div>
      )}
      <section class="card">
        <h2>{isToday ? texts.today.newest : texts.today.lastOfDay}</h2>
        {newest.length === 0 ? (
          <p class="empty">{texts.payments.empty}</p>
        ) : (
          <PaymentTable viewer={viewer} payments={newest} />
        )}
        <p class="pages">
          <a href={`${pathOf(viewer)}/payments${isToday ? '' : `?from=${day}&to=${day}`}`}>
            {isToday ? texts.today.all : texts.today.allOfDay}
          </a>
        </p>
      </section>
      <p class="small">{fill(texts.today.timeZone, { zone })}</p>
    </div>
  );
}

function Days({ viewer, isToday, previous, next }: TodayPage) {
  const { texts } = viewer;
  const path = pathOf(viewer);
  return (
    <nav class="other-days" aria-label={texts.today.days}>
      {previous === undefined ? null : (
        <a href={`${path}?day=${previous}`}>{`‹ ${isToday ? texts.today.yesterday : previous}`}</a>
      )}
      {next === undefined ? null : <a href={`${path}?day=${next}`}>{`${next} ›`}</a>}
      {isToday ? null : <a href={path}>{texts.today.title}</a>}
    </nav>
  );
}

/** The disputes to answer, with the first deadline. */
function DisputesLine({ viewer, disputes }: { viewer: MerchantViewer; disputes: DisputesToAnswer }) {
  const { one, many } = viewer.texts.disputes.today;
  const { count, firstUTCDate } = disputes;
  return (
    <p class="notice waiting">
      <a href={`${pathOf(viewer)}/disputes`}>
        {fill(count === 1 ? one : many, { count, time: viewer.clock.format(firstUTCDate) })}
      </a>
    </p>
  );
}

/** Sites with links; the others are in the number. */
const MAX_LINKS = 10;

/** The webhooks that were given up, with a link for each site and state. */
function UndeliveredLine({ viewer, undelivered }: Pick<TodayPage, 'viewer' | 'undelivered'>) {
  const { texts } = viewer;
  const total = undelivered.reduce((sum, { count }) => sum + count, 0);
  const isAtLeast = undelivered.some(({ count }) => count === MAX_UNDELIVERED_COUNT);
  const format = (count: number, orMore: boolean): string => (orMore ? `${count}+` : String(count));
  return (
    <p class="notice problem">
      {fill(texts.today.undelivered, { count: format(total, isAtLeast), days: UNDELIVERED_DAYS })}
      {undelivered.slice(0, MAX_LINKS).map(({ siteId, state, count }) => (
        <>
          {' '}
          <a href={`${pathOf(viewer)}/developers?site=${siteId}&state=${state}`}>
            {`${siteName(viewer, siteId)}, ${texts.deliveries.states[state]}: ${format(count, count === MAX_UNDELIVERED_COUNT)}`}
          </a>
        </>
      ))}
    </p>
  );
}

function Figures({ viewer, day, isToday, today, before }: TodayPage) {
  const { texts } = viewer;
  const weekday = weekdayOf(texts, day);
  const format = (cents: number | undefined): string | undefined =>
    cents === undefined ? undefined : formatAmount(cents, CURRENCY, texts);
  const percent = (value: number | undefined): string | undefined => (value === undefined ? undefined : `${value} %`);
  const figures: readonly [string, string | undefined, string | undefined][] = [
    [texts.today.sales, format(today.sales), format(before.sales)],
    [texts.today.payments, String(today.paid), String(before.paid)],
    [texts.today.approval, percent(approvalPercent(today)), percent(approvalPercent(before))],
    [texts.today.average, format(averageSale(today)), format(averageSale(before))],
  ];
  const hadTrade = before.paid + before.failed > 0;
  return (
    <dl class="figures">
      {figures.map(([name, value, earlier], index) => (
        <div class="card">
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
          {hadTrade ? (
            <dd class="small">
              {fill(isToday ? texts.today.against : texts.today.againstDay, { weekday, value: earlier ?? '–' })}
            </dd>
          ) : index === 0 ? (
            <dd class="small">{fill(isToday ? texts.today.noneBefore : texts.today.noneOnDay, { weekday })}</dd>
          ) : null}
        </div>
      ))}
    </dl>
  );
}

/** The sites with the most sales. */
const MAX_SITES = 20;

/** The sites with sales on this day or a week before, in brackets. */
function Sites({ viewer, today, before }: Pick<TodayPage, 'viewer' | 'today' | 'before'>) {
  const { texts } = viewer;
  const salesOf = ({ sites }: DaySums, siteId: number): number => sites.get(siteId)?.sales ?? 0;
  const sites = [...new Set([...today.sites.keys(), ...before.sites.keys()])]
    .toSorted((a, b) => salesOf(today, b) - salesOf(today, a) || salesOf(before, b) - salesOf(before, a))
    .slice(0, MAX_SITES);
  const format = (cents: number): string => formatAmount(cents, CURRENCY, texts);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{texts.today.site}</th>
          <th scope="col" class="number">
            {texts.today.count}
          </th>
          <th scope="col" class="number">
            {texts.today.amountAndBefore}
          </th>
        </tr>
      </thead>
      <tbody>
        {sites.map((siteId) => (
          <tr>
            <th scope="row">{siteName(viewer, siteId)}</th>
            <td class="number">{today.sites.get(siteId)?.paid ?? 0}</td>
            <td class="number">
              {format(salesOf(today, siteId))} <small>{`(${format(salesOf(before, siteId))})`}</small>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Outcomes({ viewer, today }: Pick<TodayPage, 'viewer' | 'today'>) {
  const { texts } = viewer;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{texts.today.outcome}</th>
          <th scope="col" class="number">
            {texts.today.count}
          </th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">{texts.state.success}</th>
          <td class="number">{today.paid}</td>
        </tr>
        <tr>
          <th scope="row">{texts.state.failed}</th>
          <td class="number">{today.failed}</td>
        </tr>
      </tbody>
    </table>
  );
}
