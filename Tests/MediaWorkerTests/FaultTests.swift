import Codecs
import Foundation
import Media
import MediaWorker
import NIOCore
import Recorder
import Synchronization
import TestSupport
import Testing

@Suite("Faults of decoding processes", .serialized)
struct FaultTests {
  private static let stream = Result {
    try H264Stream.make(size: "64x48", ["-c:v", "libx264", "-profile:v", "baseline", "-g", "10"])
  }

  /// What can be said of a worker's end.
  private static func clause(_ behaviour: HostileProgram.Behaviour) -> String {
    switch behaviour {
    case .garbage, .tooLong, .planesOutside, .tooLarge, .otherNumber, .audio: "sent garbage"
    case .closed: "was ended by signal 9 (SIGKILL)"
    case .crashed: "was ended by signal 11 (SIGSEGV)"
    case .busy: "needed more than 2 s of CPU time for a frame"
    }
  }

  @Test(
    "a hostile process costs the frames up to the next keyframe, and after three ends nothing is decoded",
    arguments: HostileProgram.Behaviour.allCases)
  func hostile(behaviour: HostileProgram.Behaviour) throws {
    let frames = try Self.stream.get().frames
    let program = try HostileProgram(behaviour)
    let sentences = Mutex<[String]>([])
    let worker = MediaWorker(program.launcher) { notice in sentences.withLock { $0.append(notice.sentence) } }
    let decoder = try VideoDecoder(.h264, in: worker)
    var failures: [(frame: Int, error: CodecError)] = []
    for (index, frame) in frames.prefix(30).enumerated() {
      // A frame of which only the size is wanted must come without planes or with planes inside the memory.
      do throws(CodecError) { _ = try decoder.decode(frame) { $0.size } } catch { failures.append((index, error)) }
      let processes = min(index / 10 + 1, MediaWorker.maximumCrashes)
      #expect(worker.crashes == processes && worker.id == nil)
    }
    #expect(failures.count == 30)
    for (_, error) in failures {
      #expect(!error.isUnavailable && error.reason == "the decoding process \(Self.clause(behaviour))")
    }
    let last = try #require(throws: CodecError.self) { try decoder.decode(frames[0]) }
    #expect(last.isUnavailable && last.reason == "its decoder crashed 3 times")
    let lines = sentences.withLock { $0 }
    #expect(lines.count == 3 && lines.allSatisfy { $0.contains(Self.clause(behaviour)) })
    // A process that is killed is not ended by what it decodes.
    let rest =
      behaviour == .closed
      ? "the rest of VP8 and VP9 is decoded in this process, and that of G.722, H.264, AV1 and H.265 not verified"
      : "the rest is not verified"
    #expect(lines.last?.hasSuffix(", for the third time: \(rest).") == true)
  }

  @Test("a process that is killed costs the frames up to the next keyframe; then another one decodes all")
  func killed() throws {
    let stream = try Self.stream.get()
    let worker = MediaWorker()
    let decoder = try VideoDecoder(.h264, in: worker)
    var decoded = Data()
    var failed: [Int] = []
    for (index, frame) in stream.frames.enumerated() {
      if index == 5 { kill(try #require(worker.id), SIGKILL) }
      do throws(CodecError) {
        try decoder.decode(frame) { decoded.append(contentsOf: $0.copy.luma + $0.copy.blue + $0.copy.red) }
      } catch {
        failed.append(index)
        #expect(error.reason.contains("SIGKILL"))
      }
    }
    #expect(failed == [5, 6, 7, 8, 9])
    let bytes = 64 * 48 * 3 / 2
    #expect(decoded == stream.decoded.prefix(5 * bytes) + stream.decoded.dropFirst(10 * bytes))
  }

  @Test("after the end of the parent process workers are started by a new one")
  func parentKilled() throws {
    let stream = try Self.stream.get()
    let launcher = MediaLauncher()
    let worker = MediaWorker(launcher)
    let decoder = try VideoDecoder(.h264, in: worker)
    #expect(try decoder.decode(stream.frames[0]) != nil)
    kill(try #require(launcher.id), SIGKILL)
    // Its workers end with it. A frame that is repeated may fail before.
    while worker.crashes == 0 {
      _ = try? decoder.decode(stream.frames[1])
      usleep(1_000)
    }
    #expect(try decoder.decode(stream.frames[10]) != nil)
    #expect(try decoder.decode(stream.frames[11]) != nil)
  }

  @Test("without the program nothing is decoded, and one sentence says why")
  func missing() throws {
    let frames = try Self.stream.get().frames
    let sentences = Mutex<[String]>([])
    let launcher = MediaLauncher(path: "/nowhere/chatbot-media")
    for _ in 0..<3 {
      let worker = MediaWorker(launcher) { notice in sentences.withLock { $0.append(notice.sentence) } }
      let decoder = try VideoDecoder(.h264, in: worker)
      for frame in frames.prefix(3) {
        let error = try #require(throws: CodecError.self) { try decoder.decode(frame) }
        #expect(error.isUnavailable)
      }
      #expect(worker.crashes == 0)
    }
    #expect(
      sentences.withLock { $0 } == [
        "/nowhere/chatbot-media cannot be started: No such file or directory. G.722, H.264, AV1 and H.265 are recorded, "
          + "but not verified."
      ])
  }

  @Test("a program of another version is refused")
  func version() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try "#!/bin/sh\nprintf '\\001\\143' >&3\nsleep 20\n"
      .write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    let decoder = try VideoDecoder(.h264, in: MediaWorker(MediaLauncher(path: path)))
    let error = try #require(throws: CodecError.self) { try decoder.decode(try Self.stream.get().frames[0]) }
    #expect(error.isUnavailable && error.reason == "\(path) is of another version than this program.")
  }

  @Test("signals that a service manager sends to all processes cost no frame")
  func signals() throws {
    let stream = try Self.stream.get()
    let launcher = MediaLauncher()
    let worker = MediaWorker(launcher)
    let decoder = try VideoDecoder(.h264, in: worker)
    #expect(try decoder.decode(stream.frames[0]) != nil)
    let ids = [try #require(launcher.id), try #require(worker.id)]
    for number in [SIGHUP, SIGINT, SIGTERM] {
      for id in ids { kill(id, number) }
    }
    for frame in stream.frames.prefix(10).dropFirst() { #expect(try decoder.decode(frame) != nil) }
    #expect(worker.crashes == 0 && [launcher.id, worker.id] == ids)
  }

  @Test("where a system cannot confine processes, nothing is decoded, and one sentence says why")
  func unconfined() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let program = try ProgramPath.media.find().get()
    // A filter that answers ENOSYS to seccomp(2), as a kernel without it does.
    try """
    #!/usr/bin/env python3
    import ctypes, os, platform, struct
    number = {'x86_64': 317, 'aarch64': 277}[platform.machine()]
    instructions = b''.join(struct.pack('HBBI', *each) for each in [
      (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)])
    buffer = ctypes.create_string_buffer(instructions)
    filter = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 4, ctypes.addressof(buffer)))
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(38, 1, 0, 0, 0)
    library.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(filter)), 0, 0)
    os.execv('\(program)', ['chatbot-media'])
    """.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    let sentences = Mutex<[String]>([])
    let launcher = MediaLauncher(path: path)
    for _ in 0..<2 {
      let worker = MediaWorker(launcher) { notice in sentences.withLock { $0.append(notice.sentence) } }
      let decoder = try VideoDecoder(.h264, in: worker)
      let error = try #require(throws: CodecError.self) { try decoder.decode(try Self.stream.get().frames[0]) }
      #expect(error.isUnavailable && worker.crashes == 0)
    }
    let lines = sentences.withLock { $0 }
    #expect(lines.count == 1 && lines.first?.contains("give up its rights: Function not implemented") == true)
  }

  @Test("of more than 64 participants the further ones are not decoded, until one leaves")
  func limit() throws {
    let frames = try Self.stream.get().frames
    var decoders: [VideoDecoder] = []
    var refused = 0
    for _ in 0..<66 {
      let decoder = try VideoDecoder(.h264, in: MediaWorker())
      do throws(CodecError) {
        try decoder.decode(frames[0])
        decoders.append(decoder)
      } catch {
        #expect(error.isUnavailable && error.reason == "64 participants are decoded already")
        refused += 1
      }
    }
    #expect(decoders.count + refused == 66 && refused >= 2)
    decoders.removeLast()
    let another = try VideoDecoder(.h264, in: MediaWorker())
    #expect(try another.decode(frames[0]) == VideoSize(width: 64, height: 48))
  }

  @Test("where 64 participants of VP8 are decoded, others get a process, and VP8 goes on in this one without a failure")
  func places() throws {
    let frames = try Self.stream.get().frames
    let vp8 = try VPXFrames.make(.vp8, count: 20, keyframeEvery: 10)
    let workers = (0..<64).map { _ in MediaWorker() }
    let decoders = try workers.map { try VideoDecoder(.vp8, in: $0, prefersWorker: true) }
    func decode(_ index: Int) throws {
      for decoder in decoders { #expect(try decoder.decode(vp8[index]) == VPXFrames.size) }
    }
    try decode(0)
    let started = workers.filter { $0.id != nil }
    #expect(started.count > 60)
    // One more of VP8 gets none, and is decoded all the same.
    let further = MediaWorker()
    let notices = Mutex<[WorkerNotice]>([])
    let another = MediaWorker { notice in notices.withLock { $0.append(notice) } }
    for worker in [further, another] {
      #expect(try VideoDecoder(.vp8, in: worker, prefersWorker: true).decode(vp8[0]) == VPXFrames.size)
    }
    #expect(notices.withLock { $0 }.allSatisfy { if case .replaced = $0 { true } else { false } })
    let needed = (0..<8).map { _ in MediaWorker() }
    let others = try needed.map { try VideoDecoder(.h264, in: $0) }
    for decoder in others { #expect(try decoder.decode(frames[0]) == VideoSize(width: 64, height: 48)) }
    // Up to the next keyframe nothing changes.
    try decode(1)
    #expect(workers.count { $0.id != nil } == started.count)
    for index in 2..<20 { try decode(index) }
    let left = workers.count { $0.id != nil }
    #expect(left < started.count && left + needed.count <= 64)
    for decoder in others { #expect(try decoder.decode(frames[1]) != nil) }
    #expect((workers + needed).allSatisfy { $0.crashes == 0 })
  }

  @Test("a process that is killed costs VP8 the frames up to the next keyframe; after three, this process decodes")
  func killedVP8() throws {
    let frames = try VPXFrames.make(.vp8, count: 40, keyframeEvery: 10)
    let notices = Mutex<[WorkerNotice]>([])
    let worker = MediaWorker { notice in notices.withLock { $0.append(notice) } }
    let decoder = try VideoDecoder(.vp8, in: worker, prefersWorker: true)
    var failed: [Int] = []
    for (index, frame) in frames.enumerated() {
      if index % 10 == 6, let id = worker.id { kill(id, SIGKILL) }
      do throws(CodecError) { _ = try decoder.decode(frame) } catch {
        failed.append(index)
        #expect(!error.isUnavailable && error.reason.contains("SIGKILL"))
        #expect(decoder.lacksKeyframe == (worker.crashes < MediaWorker.maximumCrashes))
      }
    }
    #expect(failed == [6, 7, 8, 9, 16, 17, 18, 19, 26, 27, 28, 29])
    #expect(worker.crashes == 3 && worker.id == nil && !worker.isSuspect)
    #expect(
      notices.withLock { $0 }.last?.sentence.contains("the rest of VP8 and VP9 is decoded in this process") == true)
  }

  @Test("what crashes a process three times is not decoded in this one")
  func crashedVP8() throws {
    let frames = try VPXFrames.make(.vp8, count: 40, keyframeEvery: 10)
    let worker = MediaWorker()
    let decoder = try VideoDecoder(.vp8, in: worker, prefersWorker: true)
    var unavailable = 0
    for (index, frame) in frames.enumerated() {
      if index % 10 == 6, let id = worker.id { kill(id, SIGSEGV) }
      do throws(CodecError) { _ = try decoder.decode(frame) } catch { unavailable += error.isUnavailable ? 1 : 0 }
    }
    #expect(worker.crashes == 3 && worker.isSuspect && unavailable == 10)
  }

  @Test("without the program VP8 and VP9 are decoded in this process, and a sentence says so")
  func missingVPX() throws {
    let notices = Mutex<[WorkerNotice]>([])
    let launcher = MediaLauncher(path: "/nowhere/chatbot-media")
    for codec in [Codec.vp8, .vp9, .vp8] {
      let worker = MediaWorker(launcher) { notice in notices.withLock { $0.append(notice) } }
      let decoder = try VideoDecoder(codec, in: worker, prefersWorker: true)
      for frame in try VPXFrames.make(codec, count: 5) { #expect(try decoder.decode(frame) == VPXFrames.size) }
      #expect(worker.id == nil && worker.crashes == 0)
    }
    let decoder = try VideoDecoder(
      .h264, in: MediaWorker(launcher) { notice in notices.withLock { $0.append(notice) } })
    #expect(throws: CodecError.self) { try decoder.decode(try Self.stream.get().frames[0]) }
    let reason = "/nowhere/chatbot-media cannot be started: No such file or directory."
    #expect(
      notices.withLock { $0 } == [
        .replaced("\(reason) VP8 and VP9 are decoded in this process."),
        .notVerified("\(reason) G.722, H.264, AV1 and H.265 are recorded, but not verified."),
      ])
  }

  @Test("a sender that changes its codec back and forth costs no further process")
  func alternating() async throws {
    let h264 = try Self.stream.get().frames[0]
    let vp8 = try VPXFrames.make(.vp8, count: 1)[0]
    let launcher = MediaLauncher()
    let verifier = FrameVerifier(VerificationShare(VerificationPool(threads: 0), launcher: launcher))
    var processes: Set<String> = []
    for index in 0..<40 {
      let frame = EncodedFrame(
        owner: ParticipantID("a"), codec: index.isMultiple(of: 2) ? .h264 : .vp8,
        time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000), payload: index.isMultiple(of: 2) ? h264 : vp8,
        isKeyframe: true, size: VPXFrames.size, arrival: .now)
      verifier.examine(frame, now: .now)
      let id = try #require(launcher.id)
      processes.insert(try String(contentsOfFile: "/proc/\(id)/task/\(id)/children", encoding: .utf8))
    }
    #expect(processes.count == 1 && processes.first?.split(separator: " ").count == 1)
    #expect(verifier.counts.errors.isEmpty && verifier.counts.unverified.isEmpty)
  }

  @Test("a process that sends garbage costs seven other participants nothing")
  func garbage() async throws {
    let frames = try Self.stream.get().frames
    let program = try HostileProgram(.garbage)
    let launcher = program.launcher
    let pool = VerificationPool(threads: 2)
    let verifiers = (0..<8).map { user in
      FrameVerifier(user == 3 ? VerificationShare(pool, launcher: launcher) : VerificationShare(pool))
    }
    for (index, payload) in frames.enumerated() {
      for (user, verifier) in verifiers.enumerated() {
        let frame = EncodedFrame(
          owner: ParticipantID("\(user)"), codec: .h264, time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000),
          payload: payload, isKeyframe: index % 10 == 0, arrival: .now)
        verifier.examine(frame, now: .now)
      }
    }
    while !verifiers.allSatisfy(\.isIdle) { try await Task.sleep(for: .milliseconds(5)) }
    for (user, verifier) in verifiers.enumerated() {
      #expect(verifier.counts.errors[.video, default: 0] == (user == 3 ? 30 : 0))
      #expect(verifier.counts.unverified[.video, default: 0] == 0)
    }
  }
}
