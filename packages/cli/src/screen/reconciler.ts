import { createContext } from 'react';
import createReconciler from 'react-reconciler';
import { DefaultEventPriority, DiscreteEventPriority, NoEventPriority } from 'react-reconciler/constants.js';
import type { ColumnNode, ScreenNode } from './nodes.js';

/** The root that components are rendered into. */
export interface Root {
  column: ColumnNode;
  /** Called after every change. */
  onChange: () => void;
}

type Props = Record<string, unknown>;

let priority = NoEventPriority;

/** Runs an input handler with the highest priority. Its changes are rendered when this function returns. */
export function withInputPriority(act: () => void): void {
  const before = priority;
  priority = DiscreteEventPriority;
  try {
    act();
  } finally {
    priority = before;
  }
  reconciler.flushSyncWork();
}

function create(type: string, props: Props): ScreenNode {
  const node = { type, ...(type === 'lathe-column' && { children: [] }) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- elements.ts creates no other nodes
  return update(node as unknown as ScreenNode, props);
}

function update(node: ScreenNode, { children: _apart, ...props }: Props): ScreenNode {
  return Object.assign(node, props);
}

function remove(parent: ScreenNode, child: ScreenNode): void {
  const { children } = column(parent);
  const at = children.indexOf(child);
  if (at !== -1) children.splice(at, 1);
}

function insert(parent: ScreenNode, child: ScreenNode, before?: ScreenNode): void {
  // React moves a child by inserting it again.
  remove(parent, child);
  const { children } = column(parent);
  const at = before ? children.indexOf(before) : -1;
  children.splice(at === -1 ? children.length : at, 0, child);
}

function column(node: ScreenNode): ColumnNode {
  if (node.type !== 'lathe-column') throw new Error(`${node.type} has no children`);
  return node;
}

const nothing = () => undefined;
const never = () => false;
const none = () => null;
const hostContext = {};

/** The React renderer for the terminal: components become nodes, and `onChange` is called when they change. */
export const reconciler = createReconciler<Root>({
  supportsMutation: true,
  supportsPersistence: false,
  supportsHydration: false,
  isPrimaryRenderer: true,
  supportsMicrotasks: true,
  scheduleMicrotask: queueMicrotask,
  scheduleTimeout: setTimeout,
  cancelTimeout: clearTimeout,
  noTimeout: -1,

  createInstance: create,
  createTextInstance: (text: string): ScreenNode => {
    throw new Error(`Text must be inside <Text>: ${text}`);
  },
  appendInitialChild: (parent: ScreenNode, child: ScreenNode) => insert(parent, child),
  appendChild: (parent: ScreenNode, child: ScreenNode) => insert(parent, child),
  insertBefore: insert,
  removeChild: remove,
  appendChildToContainer: ({ column: root }: Root, child: ScreenNode) => insert(root, child),
  insertInContainerBefore: ({ column: root }: Root, child: ScreenNode, before: ScreenNode) =>
    insert(root, child, before),
  removeChildFromContainer: ({ column: root }: Root, child: ScreenNode) => remove(root, child),
  clearContainer: ({ column: root }: Root) => void root.children.splice(0),
  commitUpdate: (node: ScreenNode, _type: string, _before: Props, props: Props) => void update(node, props),
  resetAfterCommit: ({ onChange }: Root) => onChange(),

  getPublicInstance: (node: ScreenNode) => node,
  getRootHostContext: () => hostContext,
  getChildHostContext: () => hostContext,
  prepareForCommit: none,
  preparePortalMount: nothing,
  finalizeInitialChildren: never,
  shouldSetTextContent: never,
  getInstanceFromNode: none,
  getInstanceFromScope: none,
  prepareScopeUpdate: nothing,
  beforeActiveInstanceBlur: nothing,
  afterActiveInstanceBlur: nothing,
  detachDeletedInstance: nothing,

  setCurrentUpdatePriority: (value: number) => {
    priority = value;
  },
  getCurrentUpdatePriority: () => priority,
  resolveUpdatePriority: () => (priority === NoEventPriority ? DefaultEventPriority : priority),
  resolveEventType: none,
  resolveEventTimeStamp: () => -1.1,
  shouldAttemptEagerTransition: never,
  trackSchedulerEvent: nothing,
  requestPostPaintCallback: nothing,
  maySuspendCommit: never,
  preloadInstance: () => true,
  startSuspendingCommit: none,
  suspendInstance: nothing,
  waitForCommitToBeReady: none,
  NotPendingTransition: null,
  HostTransitionContext: createContext(null),
  resetFormInstance: nothing,
});
