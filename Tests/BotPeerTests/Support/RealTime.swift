import TestSupport
import Testing

/// Tests with real sockets and the real clock, one after the other and apart from those that compute: these block the
/// threads that all tasks share.
@Suite("in real time", .serialized, .realTime)
enum RealTime {}
