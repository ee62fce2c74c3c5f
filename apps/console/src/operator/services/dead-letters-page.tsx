import { type AdministeredService, canOperate } from '@svc/contracts';
import { PostForm } from '../../layout/form-elements.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { type PageMessage, renderPage } from '../administration/operator-page.js';
import { OperatorTable, UtcTime } from '../administration/operator-table.js';

/** `GET /admin/v1/dead-letters/{service}`. */
export interface DeadLetterPage {
  readonly deadLetters: readonly {
    readonly messageId: string;
    readonly type: string;
    readonly aggregateId: string;
    readonly error: string;
    readonly deliveries: number;
    readonly failedAt: string;
  }[];
  readonly after: string | null;
}

interface DeadLettersPage extends DeadLetterPage {
  readonly viewer: OperatorViewer;
  readonly service: AdministeredService;
  readonly message?: PageMessage | undefined;
}

export function renderDeadLettersPage({ viewer, service, deadLetters, after, message }: DeadLettersPage): string {
  const path = `/operator/services/${service}`;
  const mayChange = canOperate(viewer.operatorRole, 'change');
  return renderPage({
    title: `Dead letters of ${service}`,
    viewer,
    current: 'services',
    message,
    children: (
      <>
        <p>
          Events that the service could not handle. Mend the cause, then replay them: the handler runs again, and the
          event disappears from this list when its effect is stored. Drop an event only if its effect is not wanted any
          more.
        </p>
        {mayChange && deadLetters.length > 0 ? (
          <PostForm viewer={viewer} action={`${path}/replays`} data-once>
            <button>Replay the newest 100</button>
          </PostForm>
        ) : null}
        <OperatorTable
          caption="Dead letters, the newest first"
          empty="The service has no dead letters."
          rows={deadLetters}
          columns={[
            ['Failed (UTC)', ({ failedAt }) => <UtcTime at={failedAt} />],
            ['Type', ({ type }) => type],
            ['Record', ({ aggregateId }) => <code>{aggregateId}</code>],
            ['Error', ({ error }) => error],
            ['Deliveries', ({ deliveries }) => deliveries],
            ...(mayChange
              ? [
                  [
                    'Action',
                    ({ messageId }: DeadLetterPage['deadLetters'][number]) => (
                      <>
                        <PostForm viewer={viewer} action={`${path}/${messageId}/replay`} data-once>
                          <button class="link">Replay</button>
                        </PostForm>
                        <PostForm viewer={viewer} action={`${path}/${messageId}/drop`} data-once>
                          <button class="link">Drop</button>
                        </PostForm>
                      </>
                    ),
                  ] as const,
                ]
              : []),
          ]}
        />
        {after === null ? null : (
          <p class="pages">
            <a href={`${path}?after=${encodeURIComponent(after)}`}>Older dead letters</a>
          </p>
        )}
      </>
    ),
  });
}
