import TestSupport
import Testing

/// Tests that need real time. They run one after the other, after all other tests.
@Suite("in real time", .serialized, .realTime)
enum RealTime {}
