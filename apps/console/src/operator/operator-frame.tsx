import type { ComponentChildren } from 'preact';
import { renderDocument } from '../layout/layout.js';
import type { OperatorViewer } from '../viewer/viewer.js';
import { listOperatorSections, type OperatorSectionName } from './operator-sections.js';

interface OperatorFrame {
  readonly title: string;
  readonly viewer: OperatorViewer;
  readonly current: OperatorSectionName;
  readonly children: ComponentChildren;
}

/** Renders a page of operators, with their menu. */
export function renderOperatorDocument({ title, viewer, current, children }: OperatorFrame): string {
  const { texts } = viewer;
  return renderDocument({
    title,
    texts,
    viewer,
    children: (
      <>
        <nav class="tabs" aria-label={texts.operator.menu}>
          {listOperatorSections(viewer).map(({ name, path }) => (
            <a href={path} aria-current={current === name ? 'page' : undefined}>
              {texts.operator.sections[name]}
            </a>
          ))}
        </nav>
        {children}
      </>
    ),
  });
}
