import { testPackage } from '../../../testing/architecture.js';

testPackage(import.meta.dirname, ['@lathe/core', '@lathe/agent']);
