import { runCalls, tempWorkspace } from '@lathe/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { DeployTool } from './deploy-tool.js';

test('asks what it needs to know, deploys, and writes it down', async () => {
  const files = { 'package.json': '{ "version": "1.2.0" }', 'deployments.md': '# Deployments\n' };
  const workspace = tempWorkspace(files);
  onTestFinished(() => workspace.remove());
  const deployed: string[] = [];

  const { outcomes, questions } = await runCalls({
    tools: [new DeployTool(async (version, environment) => void deployed.push(`${version} ${environment}`))],
    calls: [{ name: 'deploy', args: {} }],
    cwd: workspace.path,
    // Yes to the call, the second environment, and yes to the change of the file.
    answers: [{ outcome: 'once' }, { outcome: 'once', choice: '1' }, { outcome: 'once' }],
  });

  expect(questions.map(({ tool, confirmation }) => `${tool}: ${confirmation.title}`)).toEqual([
    'deploy: Deploy?',
    'deploy: Deploy asks',
    'write_file: Confirm WriteFile: deployments.md',
  ]);
  expect(deployed).toEqual(['1.2.0 production']);
  expect(outcomes.map(({ llmContent }) => llmContent)).toEqual(['Deployed 1.2.0 to production.']);
  expect(workspace.read('deployments.md')).toBe('# Deployments\n- 1.2.0 to production\n');
});

test('does nothing after a no', async () => {
  const workspace = tempWorkspace({ 'package.json': '{ "version": "1.2.0" }' });
  onTestFinished(() => workspace.remove());
  const tool = new DeployTool(() => Promise.reject(new Error('must not run')));
  const { outcomes } = await runCalls({ tools: [tool], calls: [{ name: 'deploy' }], cwd: workspace.path });
  expect(outcomes[0]?.error?.type).toBe('execution_denied');
});
