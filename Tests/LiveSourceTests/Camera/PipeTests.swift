import Codecs
import Foundation
import Glibc
import LiveSource
import Media
import TestSupport
import Testing

extension RealTime {
  @Suite("Frames from a pipe")
  @OwnThread
  struct PipeTests {
    nonisolated static let size = VideoSize(width: 32, height: 32)
    nonisolated static let videoFrameBytes = 32 * 32 * 3 / 2

    /// A pipe; each test closes its ends.
    final class Pipe: Sendable {
      let reading: Int32
      let writing: Int32

      /// Creates a named pipe, because its ends can be opened with O_CLOEXEC: otherwise a program that another test
      /// starts in the same moment could keep the pipe open.
      init() {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)").path
        mkfifo(path, 0o600)
        reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        writing = open(path, O_WRONLY | O_CLOEXEC)
        _ = fcntl(reading, F_SETFL, 0)
        unlink(path)
      }

      /// Sets the number of bytes that fit into it (F_SETPIPE_SZ of fcntl(2)), and returns how many do.
      func setCapacity(_ bytes: Int32) -> Int32 { fcntl(writing, 1_031, bytes) }

      func write(text: String) {
        _ = Glibc.write(writing, text, text.utf8.count)
      }

      func write(luma: UInt8, bytes: Int = PipeTests.videoFrameBytes) {
        let videoFrame = [UInt8](repeating: luma, count: 1_024) + [UInt8](repeating: 128, count: 512)
        _ = Glibc.write(writing, videoFrame, bytes)
      }
    }

    func options(fps: Double) -> LiveCamera.Options {
      .init(input: .standardInput, size: Self.size, fps: fps, maximumBitrate: 1_000_000, owner: someone)
    }

    @Test(
      "frames are shown at a constant rate, the last one is repeated for a slow writer, and the camera ends with the pipe"
    )
    func slowWriter() async throws {
      let pipe = Pipe()
      pipe.write(luma: 40)
      let camera = try LiveCamera(opening: options(fps: 25), standardInput: pipe.reading)
      let decoder = try VP8Decoder()
      var brightness: [Int] = []
      for await frame in await camera.frames() {
        let seen = try #require(try decoder.decode(frame.payload, \.brightness))
        brightness.append(Int(seen.rounded()))
        if brightness.count == 10 { pipe.write(luma: 200) }
        if brightness.count == 20 {
          pipe.write(luma: 90, bytes: 700)
          close(pipe.writing)
        }
      }
      close(pipe.reading)
      #expect(brightness.count >= 20 && brightness.count < 30)
      #expect(brightness.prefix(8).allSatisfy { abs($0 - 40) < 6 })
      #expect(abs((brightness.last ?? 0) - 200) < 10)
      let failure = await camera.failure
      #expect(failure == nil)
    }

    @Test("a writer that is too fast has to wait, and no frame is lost")
    func fastWriter() async throws {
      let pipe = Pipe()
      let capacity = pipe.setCapacity(4_096)
      #expect(capacity > 0 && capacity < 40 * Self.videoFrameBytes / 2)
      DedicatedThread.start("pipe writer") {
        for number in 0..<40 { pipe.write(luma: UInt8(20 + number * 5)) }
        close(pipe.writing)
      }
      let camera = try LiveCamera(opening: options(fps: 50), standardInput: pipe.reading)
      let decoder = try VP8Decoder()
      var shown: [Int] = []
      for await frame in await camera.frames() {
        let brightness = try #require(try decoder.decode(frame.payload, \.brightness))
        shown.append(Int(((brightness - 20) / 5).rounded()))
      }
      close(pipe.reading)
      // A frame is repeated if the writer is slow, and a few are skipped if the camera is.
      let grow = zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 }
      #expect(grow, "\(shown)")
      #expect(Set(shown).count >= 30, "\(shown)")
      #expect(shown.last == 39)
    }

    @Test(
      "the video continues after shorter audio has ended, and the camera ends with the pipe",
      arguments: [true, false])
    func withAudio(_ loops: Bool) async throws {
      let scratch = try Scratch()
      let pipe = Pipe()
      pipe.write(luma: 60)
      var options = options(fps: 25)
      options.audio = try scratch.make("a.wav", "-f", "lavfi", "-i", "sine=d=0.2")
      options.loops = loops
      let camera = try LiveCamera(opening: options, standardInput: pipe.reading)
      var last: [MediaKind: Double] = [:]
      var isClosed = false
      for await frame in await camera.frames() {
        last[frame.codec.kind] = frame.time.seconds
        if frame.codec == .vp8, frame.time.ticks >= 18 * 3_600, !isClosed {
          isClosed = true
          close(pipe.writing)
        }
      }
      close(pipe.reading)
      let (videoFrames, audio) = (last[.video] ?? 0, last[.audio] ?? 0)
      #expect(videoFrames >= 0.72 && videoFrames < 2)
      #expect(loops ? audio > 0.6 : audio < 0.25)
    }

    @Test("a truncated Y4M stream is played up to the last whole frame, and the rest is logged")
    func y4m() async throws {
      let pipe = Pipe()
      pipe.write(text: "YUV4MPEG2 W32 H32 F25:1 Ip C420jpeg XCOLORRANGE=FULL\n")
      for number in 0..<10 {
        pipe.write(text: number == 3 ? "FRAME Ip\n" : "FRAME\n")
        pipe.write(luma: UInt8(255 - 20 * number))
      }
      pipe.write(text: "FRAME\n")
      pipe.write(luma: 0, bytes: 700)
      close(pipe.writing)
      let recorder = LogRecorder()
      let camera = try LiveCamera(
        opening: .init(input: .standardInput, owner: someone), standardInput: pipe.reading, logger: recorder.logger)
      #expect(camera.summary.contains("Y4M 32x32, 25 a second"))
      let decoder = try VP8Decoder()
      var brightness: [Double] = []
      var last = 0.0
      for await frame in await camera.frames() {
        brightness.append(try #require(try decoder.decode(frame.payload, \.brightness)))
        last = frame.time.seconds
      }
      close(pipe.reading)
      // White is 235 in the encoded frames, although it is 255 in the file.
      let shown = brightness.map { Int(((235 - $0) * 255 / (219 * 20)).rounded()) }
      let grow = zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 }
      #expect(grow && Set(shown).count >= 8 && shown.first == 0 && shown.last == 9, "\(brightness)")
      let lateness = await StallMeter.longestStall()
      #expect(last > 0.3 && last < 0.45 + lateness)
      #expect(recorder.lines == ["Standard input ended in the middle of a frame: 700 of 1536 bytes were read."])
      let failure = await camera.failure
      #expect(failure == nil)
    }

    @Test("a Y4M stream with a damaged frame header ends the camera with an error, or is refused when opened")
    func brokenY4M() async throws {
      let pipe = Pipe()
      pipe.write(text: "YUV4MPEG2 W32 H32 F25:1\nFRAME\n")
      pipe.write(luma: 40)
      pipe.write(text: "NOISE\n")
      defer {
        close(pipe.writing)
        close(pipe.reading)
      }
      do {
        let camera = try LiveCamera(opening: .init(input: .standardInput, owner: someone), standardInput: pipe.reading)
        for await _ in await camera.frames() {}
        let failure = await camera.failure
        #expect(failure == "Standard input cannot be played any further: no frame begins at byte 1566.")
      } catch {
        // The reader found the damage while the camera was being opened.
        #expect("\(error)" == "Standard input cannot be played: no frame begins at byte 1566.")
      }
    }

    @Test("while the pipe is empty a black frame is shown, and a note says so")
    func lateWriter() async throws {
      let pipe = Pipe()
      let camera = try LiveCamera(opening: options(fps: 10), standardInput: pipe.reading)
      #expect(camera.notes == ["No frame has arrived from it yet; a black one is shown until one does."])
      let decoder = try VP8Decoder()
      var isFirst = true
      for await frame in await camera.frames() {
        #expect(try decoder.decode(frame.payload, \.brightness).map { $0 < 20 } == true)
        if isFirst { close(pipe.writing) }
        isFirst = false
      }
      #expect(!isFirst)
      // The reader has seen the end of the pipe and no longer uses the descriptor.
      close(pipe.reading)
    }
  }
}
