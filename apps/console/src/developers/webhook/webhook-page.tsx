import { MAX_URL_LENGTH, type SiteWebhookSettings, type TestWebhookResult } from '@svc/contracts';
import { fill } from '../../languages/fill.js';
import { PostForm } from '../../layout/form-elements.js';
import { Notice } from '../../layout/layout.js';
import { listSites } from '../../viewer/sites.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import {
  Code,
  developersPath,
  formatHeaders,
  type Message,
  renderDevelopersPage,
  SiteForm,
} from '../developers-frame.js';

interface ShownSite {
  readonly siteId: number;
  readonly saved: SiteWebhookSettings;
  /** The values of the form. */
  readonly entered: SiteWebhookSettings;
}

interface WebhookPage {
  readonly viewer: MerchantViewer;
  /** Undefined if the merchant has no site yet. */
  readonly site: ShownSite | undefined;
  readonly message: Message | undefined;
  /** The result of the test that was just sent. */
  readonly result: TestWebhookResult | undefined;
  /** webhook-id of the next test. */
  readonly testId: string;
}

export function renderWebhookPage({ viewer, site, message, result, testId }: WebhookPage): string {
  const { texts } = viewer;
  return renderDevelopersPage({
    viewer,
    tab: 'webhook',
    title: texts.webhook.title,
    message,
    children: site ? (
      <>
        <SiteForm
          texts={texts}
          path={`${developersPath(viewer)}/webhook`}
          chosen={site.siteId}
          choices={listSites(viewer).map(({ siteId, name }) => [siteId, name])}
        />
        <AddressForm {...{ viewer, site }} />
        <Test {...{ viewer, site, result, testId }} />
      </>
    ) : (
      <p class="empty">{texts.developers.noSite}</p>
    ),
  });
}

function AddressForm({ viewer, site }: { viewer: MerchantViewer; site: ShownSite }) {
  const { webhook } = viewer.texts;
  const { webhookUrl, webhookEnabled } = site.entered;
  return (
    <section class="card form">
      <p>{webhook.text}</p>
      <PostForm viewer={viewer} action={`${developersPath(viewer)}/webhook`}>
        <input type="hidden" name="site" value={site.siteId} />
        <label>
          {webhook.address}
          <input type="url" name="url" value={webhookUrl ?? ''} maxlength={MAX_URL_LENGTH} />
        </label>
        <label class="check">
          <input type="checkbox" name="enabled" value="on" checked={webhookEnabled} />
          {webhook.enabled}
        </label>
        <button>{webhook.save}</button>
      </PostForm>
    </section>
  );
}

function Test({
  viewer,
  site,
  result,
  testId,
}: {
  viewer: MerchantViewer;
  site: ShownSite;
  result: TestWebhookResult | undefined;
  testId: string;
}) {
  const { webhook } = viewer.texts;
  return (
    <section class="card">
      <h2>{webhook.testTitle}</h2>
      {result === undefined ? null : <Result {...{ viewer, result }} />}
      <p>{webhook.testText}</p>
      {site.saved.webhookUrl === null ? (
        <p class="empty">{webhook.noAddress}</p>
      ) : (
        <PostForm viewer={viewer} action={`${developersPath(viewer)}/webhook/test`} data-once>
          <input type="hidden" name="site" value={site.siteId} />
          <input type="hidden" name="key" value={testId} />
          <button>{webhook.test}</button>
        </PostForm>
      )}
    </section>
  );
}

function Result({ viewer, result }: { viewer: MerchantViewer; result: TestWebhookResult }) {
  const { developers, webhook } = viewer.texts;
  const { statusCode, errorClass, hint, response, durationMs, url, headers, body } = result;
  const isReceived = statusCode !== null && statusCode >= 200 && statusCode < 300;
  const text =
    statusCode === null
      ? fill(webhook.noResult, { reason: errorClass ?? '' })
      : fill(webhook.results[isReceived ? 'received' : 'refused'], { status: statusCode });
  return (
    <>
      <Notice kind={isReceived ? 'done' : 'problem'}>
        {text} <small>{`${url}, ${fill(webhook.duration, { ms: durationMs })}`}</small>
        {hint === null ? null : <small>{hint}</small>}
      </Notice>
      {response ? <Code label={webhook.response}>{response}</Code> : null}
      <details>
        <summary>{webhook.sent}</summary>
        <Code label={developers.headers}>{formatHeaders(headers)}</Code>
        <Code label={developers.body}>{body}</Code>
      </details>
    </>
  );
}
