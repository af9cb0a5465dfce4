import { DevelopersWidget } from './widget-developers.ts';
import { EnterpriseWidget } from './widget-enterprise.ts';
import { ProfileWidget } from './widget-profile.ts';

// A page may load the module twice, even from two versions of the service; the first definition stays.
const ELEMENTS = {
  'ibid-profile': ProfileWidget,
  'ibid-enterprise': EnterpriseWidget,
  'ibid-developers': DevelopersWidget,
};
for (const [name, element] of Object.entries(ELEMENTS)) {
  if (!customElements.get(name)) customElements.define(name, element);
}
