// report/json/ranks.hpp — nothing: the page includes it, until it is made of the report's document.
#pragma once

#include "report/json/parts.hpp"
