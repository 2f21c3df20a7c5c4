/** Types for the part of react-reconciler that we use; the package has none. */
declare module 'react-reconciler' {
  import type { ReactNode } from 'react';

  interface Container {
    readonly current: unknown;
  }

  interface Reconciler<Root> {
    createContainer(
      root: Root,
      mode: number,
      hydration: null,
      isStrict: boolean,
      strictByDefault: null,
      idPrefix: string,
      onUncaughtError: (error: unknown) => void,
      onCaughtError: (error: unknown) => void,
      onRecoverableError: (error: unknown) => void,
      onTransition: () => void,
    ): Container;
    updateContainerSync(app: ReactNode, container: Container, parent: null): void;
    flushSyncWork(): void;
    flushPassiveEffects(): boolean;
  }

  export default function createReconciler<Root>(host: Record<string, unknown>): Reconciler<Root>;
}

declare module 'react-reconciler/constants.js' {
  export const NoEventPriority: number;
  export const DefaultEventPriority: number;
  export const DiscreteEventPriority: number;
}
