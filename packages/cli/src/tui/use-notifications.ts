import { useEffect, useRef } from 'react';
import { notification, restoreTitle, setTitle } from '../screen/signals.js';

export interface NotificationOptions {
  /** The name of the project, for the title of the window. */
  project: string;
  isBusy: boolean;
  hasQuestion: boolean;
  settings: { notifyAfterSeconds: number; hideWindowTitle: boolean; accessibility: { screenReader: boolean } };
}

/** Shows in the title of the window what is happening, and calls the person when an answer is needed or the work is done. */
export function useNotifications(
  terminal: Pick<NodeJS.WriteStream, 'write'>,
  { project, isBusy, hasQuestion, settings }: NotificationOptions,
): void {
  const { notifyAfterSeconds: notifyAfter } = settings;
  const hidesTitle = settings.hideWindowTitle || settings.accessibility.screenReader;
  const startedAt = useRef<number | undefined>(undefined);
  const isFirst = useRef(true);

  useEffect(() => {
    if (hidesTitle) return;
    const mark = hasQuestion ? '? ' : isBusy ? '● ' : '';
    terminal.write(setTitle(`${mark}${project} – lathe`, { isFirst: isFirst.current }));
    isFirst.current = false;
  }, [hidesTitle, hasQuestion, isBusy, project]);
  useEffect(() => () => void (hidesTitle || terminal.write(restoreTitle)), []);

  useEffect(() => {
    if (hasQuestion && notifyAfter >= 0) terminal.write(notification(`${project}: an answer is needed`));
  }, [hasQuestion]);
  useEffect(() => {
    const since = startedAt.current;
    startedAt.current = isBusy ? performance.now() : undefined;
    if (isBusy || since === undefined || notifyAfter < 0) return;
    if (performance.now() - since >= notifyAfter * 1000) terminal.write(notification(`${project}: done`));
  }, [isBusy]);
}
