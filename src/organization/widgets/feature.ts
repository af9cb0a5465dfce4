import type { Feature } from '../../platform/feature.ts';
import { changeWidgetOrigins } from './change-widget-origins.ts';
import { developersWidget } from './developers-widget.ts';
import { enterpriseWidget } from './enterprise-widget.ts';
import { getWidgetOrigins } from './get-widget-origins.ts';
import { issueWidgetToken } from './issue-widget-token.ts';
import { mayBeFramed } from './may-be-framed.ts';
import { profileWidget } from './profile-widget.ts';
import { widgetTables } from './tables.ts';

export const widgets: Feature = {
  endpoints: [
    issueWidgetToken,
    profileWidget,
    enterpriseWidget,
    developersWidget,
    getWidgetOrigins,
    changeWidgetOrigins,
    mayBeFramed,
  ],
  tables: widgetTables,
};
