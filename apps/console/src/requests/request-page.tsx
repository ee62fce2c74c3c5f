import { ownCodeText, qrSvg } from '@svc/kernel';
import type { ComponentChildren } from 'preact';
import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format.js';
import { ASSETS } from '../layout/console-assets.js';
import { PostForm } from '../layout/form-elements.js';
import { FactList, Notice, pathOf, renderDocument } from '../layout/layout.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import type { ListedRequest } from './list-requests.query.js';
import {
  MAX_MAILS_OF_ADDRESS,
  MAX_MAILS_OF_MERCHANT,
  MAX_MAILS_OF_REQUEST,
  type RequestMailSummary,
} from './mails/request-mail.repository.js';
import { MailFields } from './new-request-page.js';
import { determineRequestState } from './request.js';
import { lastDayOf, State } from './requests-page.js';

export type RequestMessage = keyof Texts['request']['messages'];
export type MailMessage = keyof Texts['request']['mailMessages'];

export interface RequestPage {
  readonly viewer: MerchantViewer;
  readonly request: ListedRequest;
  readonly mails: readonly RequestMailSummary[];
  readonly message: RequestMessage | undefined;
  readonly mailMessage: MailMessage | undefined;
  /** Whether e-mails can be sent. */
  readonly hasMail: boolean;
  /** Idempotency key of the form of the e-mail (UUID). */
  readonly mailKey: string;
  readonly codesUrl: string;
  readonly now: Date;
}

export function renderRequestPage(page: RequestPage): string {
  const { viewer, request } = page;
  const { texts } = viewer;
  const title = fill(texts.request.title, { amount: formatAmount(request.amount, request.currency, texts) });
  const isOpen = determineRequestState(request, page.now) === 'open';
  return renderDocument({
    title,
    texts,
    viewer,
    current: 'requests',
    children: (
      <>
        <p class="no-print">
          <a href={`${pathOf(viewer)}/requests`}>{texts.request.back}</a>
        </p>
        <h1>{title}</h1>
        <Messages {...page} />
        <div class="columns">
          <RequestFacts {...page} />
          {isOpen ? <Share {...page} /> : null}
          {page.mails.length > 0 ? <Mails {...page} /> : null}
        </div>
      </>
    ),
  });
}

const DONE: readonly string[] = ['created', 'cancelled', 'sent'];

function Messages({ viewer: { texts }, message, mailMessage }: RequestPage) {
  const limits = {
    perHour: MAX_MAILS_OF_MERCHANT,
    perRequest: MAX_MAILS_OF_REQUEST,
    perAddress: MAX_MAILS_OF_ADDRESS,
  };
  const kindOf = (name: string) => (DONE.includes(name) ? 'done' : 'problem');
  return (
    <>
      {message === undefined ? null : <Notice kind={kindOf(message)}>{texts.request.messages[message]}</Notice>}
      {mailMessage === undefined ? null : (
        <Notice kind={kindOf(mailMessage)}>{fill(texts.request.mailMessages[mailMessage], limits)}</Notice>
      )}
    </>
  );
}

/** The state, which the script replaces when it has changed. The stylesheet then hides what only an open request has. */
export function RequestFacts({ viewer, request, now }: Pick<RequestPage, 'viewer' | 'request' | 'now'>) {
  const { texts, clock } = viewer;
  const state = determineRequestState(request, now);
  const { paymentReference } = request;
  const facts: [string, ComponentChildren][] = [
    [texts.requests.state, <State {...{ texts, state }} />],
    [texts.requests.amount, formatAmount(request.amount, request.currency, texts)],
    [texts.requests.description, request.description],
    [texts.request.order, request.orderReference],
    [texts.requests.site, siteName(viewer, request.siteId)],
    [texts.request.createdAt, clock.format(request.createdUTCDate)],
    [texts.requests.until, fill(texts.request.endOfDay, { day: lastDayOf(viewer, request) })],
    [
      texts.request.payment,
      paymentReference === null ? (
        ''
      ) : (
        <a href={`${pathOf(viewer)}/payments/${paymentReference}`}>{paymentReference}</a>
      ),
    ],
  ];
  return (
    <section class={`card request ${state}`} data-live={`${pathOf(viewer)}/requests/${request.invoiceReference}/live`}>
      <FactList>{facts}</FactList>
    </section>
  );
}

/** The link and its QR code, and what the person may do with an open request. */
function Share({ viewer, request, hasMail, mailKey, codesUrl }: RequestPage) {
  const { texts } = viewer;
  const link = ownCodeText(request.code, codesUrl);
  const path = `${pathOf(viewer)}/requests/${request.invoiceReference}`;
  const mayChange = viewer.can('payment-requests.create', request.siteId);
  return (
    <section class="card share">
      <h2>{texts.request.share}</h2>
      <div class="qr" dangerouslySetInnerHTML={{ __html: qrSvg(link, texts.request.qrLabel) }} />
      <p class="small">{texts.request.scan}</p>
      <p>
        {texts.request.link}:{' '}
        <a href={link} rel="noreferrer" class="pay-link">
          {link}
        </a>
      </p>
      <p class="no-print">
        <button type="button" class="small" data-copy={link} data-done={texts.request.copied} hidden>
          {texts.request.copy}
        </button>{' '}
        <button type="button" class="small" data-share={link} hidden>
          {texts.request.send}
        </button>{' '}
        <button type="button" class="small" data-print hidden>
          {texts.request.print}
        </button>{' '}
        <span role="status" data-copy-result />
      </p>
      <script src={ASSETS.get('requests.js')!.path} defer />
      {mayChange && hasMail ? (
        <PostForm viewer={viewer} action={`${path}/mails`}>
          <h2>{texts.request.mailTitle}</h2>
          <input type="hidden" name="key" value={mailKey} />
          <MailFields viewer={viewer} values={{ email: '', language: texts.tag }} isInvalid={false} isRequired />
          <button>{texts.request.sendMail}</button>
        </PostForm>
      ) : null}
      {mayChange ? (
        <PostForm viewer={viewer} action={`${path}/cancel`} class="cancel">
          <p class="small">{texts.request.cancelNote}</p>
          <button class="danger">{texts.request.cancel}</button>
        </PostForm>
      ) : null}
    </section>
  );
}

/** The e-mails of the request. People who may see data of customers recognise the address. It is never shown as a whole. */
function Mails({ viewer, request, mails }: RequestPage) {
  const { texts, clock } = viewer;
  const showsAddress = viewer.can('customers.read', request.siteId);
  return (
    <section class="card no-print">
      <h2>{texts.request.mailsTitle}</h2>
      <ul class="mails">
        {mails.map(({ recipient, state, createdAt }) => (
          <li>
            <time datetime={createdAt.toISOString()}>{clock.format(createdAt.toISOString())}</time>{' '}
            {showsAddress ? <span>{`${maskAddress(recipient)}: `}</span> : null}
            {texts.request.mailState[state]}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `thandi@example.com` as `t…@example.com`. */
function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}…${address.slice(at)}`;
}
