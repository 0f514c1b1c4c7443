import TestSupport
import Testing

/// Tests in real time, one after the other, when the others have been run.
@Suite("in real time", .serialized, .realTime)
enum RealTime {}
