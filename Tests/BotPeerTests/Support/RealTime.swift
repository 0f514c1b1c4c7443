import TestSupport
import Testing

/// Tests with real sockets and the real clock. They run one after the other and separately from the tests that compute,
/// because these block the threads that all tasks share.
@Suite("in real time", .serialized, .realTime)
enum RealTime {}
