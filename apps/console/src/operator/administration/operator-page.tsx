import type { ComponentChildren } from 'preact';
import { Notice } from '../../layout/layout.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { renderOperatorDocument } from '../operator-frame.js';
import type { OperatorSectionName } from '../operator-sections.js';

interface OperatorPage {
  readonly title: string;
  readonly viewer: OperatorViewer;
  readonly current: OperatorSectionName;
  readonly message?: PageMessage | undefined;
  readonly children: ComponentChildren;
}

/** The result of the form that was sent before the page. */
export interface PageMessage {
  readonly kind: 'done' | 'problem';
  readonly text: string;
}

/** Renders a page of operators. Its content is English in every language, as the log lines and the API are. */
export function renderPage({ title, viewer, current, message, children }: OperatorPage): string {
  return renderOperatorDocument({
    title,
    viewer,
    current,
    children: (
      <div lang="en">
        <h1>{title}</h1>
        {message === undefined ? null : <Notice kind={message.kind}>{message.text}</Notice>}
        {children}
      </div>
    ),
  });
}
