import Foundation
import TestSupport
import Testing

extension EndToEndWaiting {
  /// Services and recorders that store in S3 while they are killed.
  @Suite(
    "storing in S3", .serialized, .enabled(if: ServiceStoreProgram.isInstalled, ServiceStoreProgram.isMissing))
  struct ServiceStoreTests {
    @Test(
      "after kills of the service, alone and with its job, with half of the requests disturbed, every object is there once and whole"
    )
    func kills() async throws {
      let (points, seconds) = (
        ServiceTestForm.count(short: 4, whole: 25), ServiceTestForm.count(short: 130, whole: 500)
      )
      try await ServiceStoreProgram.run(["kills", "\(points)"], "75 store kills", limit: .seconds(seconds))
    }

    @Test(
      "a recorder with --store uploads beside it; kills of either lose nothing, and exit codes say what is missing")
    func upload() async throws {
      try await ServiceStoreProgram.run(["upload"], "77 store upload", limit: .seconds(240))
    }
  }

  /// A store that is away for long.
  @Suite(
    "a store that is away", .serialized, .enabled(if: ServiceStoreProgram.isInstalled, ServiceStoreProgram.isMissing))
  struct ServiceStoreOutageTests {
    @Test(
      "while the store is away files wait, a refusal is named, and in the end all is stored and copies go",
      .enabled(if: ServiceTestForm.isWhole))
    func outage() async throws {
      try await ServiceStoreProgram.run(["outage", "600"], "76 store outage", limit: .seconds(1_200))
    }

    @Test("after half a minute without the store everything is stored, once", .enabled(if: !ServiceTestForm.isWhole))
    func shortOutage() async throws {
      try await ServiceStoreProgram.run(["away", "30"], "79 short store outage", limit: .seconds(120))
    }
  }

  /// A disk that is full while the store is away.
  @Suite(
    "a store that is away, and a full disk",
    .enabled(if: ServiceStoreProgram.isInstalled && ServiceTestForm.isWhole, ServiceStoreProgram.isMissing))
  struct ServiceStoreDiskTests {
    @Test("a disk that was full while the store was away gets room again, and everything is stored")
    func full() async throws {
      try await ServiceStoreProgram.run(["full"], "78 store full", limit: .seconds(600))
    }
  }
}
