// A library needs a source; this file provides the precompiled header.
