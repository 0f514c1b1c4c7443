import Codecs
import FileSource
import Foundation
import LiveSource
import Media
import NIOCore
import Pattern
import TestSupport
import Testing

extension RealTime {
  @Suite("A live camera")
  @OwnThread
  struct LiveCameraTests {
    let scratch: Scratch

    init() throws {
      scratch = try Scratch()
    }

    /// The frames that were received, and how late.
    struct Taken {
      var frames: [EncodedFrame] = []
      var lateness: [Duration] = []

      func of(_ codec: Codec) -> [EncodedFrame] { frames.filter { $0.codec == codec } }
    }

    /// Receives frames until the stream ends or `enough` returns true.
    func take(_ camera: any FrameSource, until enough: (Taken) -> Bool = { _ in false }) async -> Taken {
      var taken = Taken()
      for await frame in await camera.frames() {
        taken.lateness.append(.now - frame.arrival)
        taken.frames.append(frame)
        if enough(taken) { break }
      }
      return taken
    }

    @Test("a Y4M file and a WAV file played once are sent whole and in time, and the stream ends with the longer")
    func joined() async throws {
      let video = try scratch.make("v.y4m", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1")
      let audio = try scratch.make("a.wav", "-f", "lavfi", "-i", "sine=f=700:r=44100:d=0.6")
      let camera = try LiveCamera.open(
        .init(input: .file(video), audio: audio, loops: false, owner: someone))
      #expect(camera.isLive && camera.kinds == [.audio, .video])
      #expect(
        camera.summary
          == "\(video) with \(audio): Y4M 160x120, 25 frames at 25 a second; 16-bit PCM mono, 44100 Hz, 0.60 s, encoded live"
      )
      let began = ContinuousClock.now
      let taken = await take(camera)
      let took = ContinuousClock.now - began
      let videoFrames = taken.of(.vp8)
      #expect(taken.frames.allSatisfy { $0.owner == someone })
      #expect(taken.lateness.allSatisfy { $0 >= .zero })
      #expect(took >= .milliseconds(999) && took < .seconds(30))
      #expect(videoFrames.count >= 20 && videoFrames.count <= 25)
      #expect(videoFrames.first?.isKeyframe == true && videoFrames.first?.size == VideoSize(width: 160, height: 120))
      let videoFrameTicksAreDue = videoFrames.allSatisfy { $0.time.ticks.isMultiple(of: 3_600) }
      #expect(videoFrameTicksAreDue)
      // The encoder's delay is subtracted, and packets before the start are not sent.
      let audioPackets = taken.of(.opus)
      let distances = Set(zip(audioPackets, audioPackets.dropFirst()).map { $1.time.ticks - $0.time.ticks })
      #expect(audioPackets.count >= 49 && distances == [960])
      let failure = await camera.failure
      #expect(failure == nil)

      // The decoded frames are those of the file.
      let wanted = try scratch.judge(video, "-f", "rawvideo", "-pix_fmt", "yuv420p")
      let decoder = try VP8Decoder()
      var worst = Double.infinity
      for frame in videoFrames {
        let videoFrame = try #require(try decoder.decode(frame.payload, \.copy))
        let number = Int(frame.time.ticks / 3_600)
        worst = min(worst, peakSignalToNoise(videoFrame.bytes, Array(wanted[number * 28_800..<(number + 1) * 28_800])))
      }
      #expect(worst > 24, "measured: \(worst) dB")
    }

    @Test("the test pattern's frames are received in order, each with the sender's time at which it was due")
    func pattern() async throws {
      let camera = try LiveCamera(opening: .init(input: .pattern, maximumBitrate: 3_000_000, owner: someone))
      #expect(
        camera.summary
          == "The test pattern: test pattern 640x480, 30 frames a second; an audio mark each second, encoded live")
      let start = Date().timeIntervalSince1970 * 1_000
      let taken = await take(camera) { $0.of(.vp8).count == 30 }
      let decoder = try VP8Decoder()
      let reader = PatternReader()
      var numbers: [UInt32] = []
      // The sender's time at the start of the stream, in milliseconds, as each frame shows it.
      var starts: [Double] = []
      for frame in taken.of(.vp8) {
        let videoFrame = try #require(try decoder.decode(frame.payload, \.copy))
        let reading = try reader.read(videoFrame).get()
        numbers.append(reading.frameNumber)
        #expect(frame.time.ticks.isMultiple(of: 3_000))
        starts.append(Double(reading.time) - frame.time.seconds * 1_000)
      }
      let first = try #require(starts.first)
      #expect(abs(first - start) < 10_000)
      let deviation = try #require(starts.map { abs($0 - first) }.max())
      #expect(deviation < 1.1)
      // A frame that is skipped because the machine is late has no number.
      #expect(numbers == Array(0..<30))
      let late = taken.lateness.sorted()
      print(
        "measured: live camera, pattern 640x480 at 30 fps with audio: 99 % of the frames at most "
          + "\(late[late.count * 99 / 100]) late, \(late[late.count / 2]) in the middle")
      #expect(late[late.count / 2] < .seconds(10))
    }

    @Test("a keyframe requested between two slow frames does not wait for the next one")
    func keyframe() async throws {
      let still = try scratch.make("a.png", "-f", "lavfi", "-i", "testsrc2=s=320x240", "-frames:v", "1")
      let camera = try LiveCamera(opening: .init(input: .file(still), fps: 0.1, owner: someone))
      var asked: ContinuousClock.Instant?
      var waited: Duration?
      var count = 0
      for await frame in await camera.frames() where frame.codec == .vp8 {
        count += 1
        if let asked {
          #expect(frame.isKeyframe)
          waited = .now - asked
          break
        }
        #expect(frame.isKeyframe)
        // After the half second in which requests are combined.
        try await Task.sleep(for: .milliseconds(600))
        asked = .now
        camera.requestKeyframe()
      }
      #expect(count == 2)
      let time = try #require(waited)
      print("measured: keyframe of a still image \(time) after the request")
      #expect(time < .seconds(5))
    }

    @Test("it loops, and adapts its bitrate")
    func following() async throws {
      let video = try scratch.make(
        "v.webm", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=0.5", "-c:v", "libvpx-vp9", "-b:v", "1M")
      let camera = try LiveCamera.open(.init(input: .file(video), maximumBitrate: 2_000_000, owner: someone))
      var bytes = 0
      var late = 0
      for await frame in await camera.frames() {
        if frame.time.seconds < 0.1 { camera.adapt(toBitrate: 120_000, fractionLost: 0.1) }
        if frame.time.seconds > 1 { late += frame.payload.readableBytes }
        bytes += frame.payload.readableBytes
        if frame.time.seconds > 2 { break }
      }
      #expect(late * 8 < 240_000 && late > 0)
    }

    @Test("a file that becomes shorter while it plays ends the stream, and `failure` states the reason")
    func changed() async throws {
      let video = try scratch.make("v.y4m", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=1")
      let camera = try LiveCamera(opening: .init(input: .file(video), owner: someone))
      #expect(truncate(video, 200) == 0)
      _ = await take(camera)
      let failure = await camera.failure
      #expect(failure == "\(video) cannot be played any further: it has changed since it was opened.")
    }

    @Test("a file that a call can carry is played as stored unless an option requires encoding")
    func choosing() throws {
      let file = try scratch.make(
        "v.webm", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2", "-f", "lavfi", "-i", "sine=d=0.2", "-c:v",
        "libvpx",
        "-c:a", "libopus")
      func isLive(_ options: LiveCamera.Options) throws -> Bool { try LiveCamera.open(options).isLive }
      #expect(try !isLive(.init(input: .file(file), owner: someone)))
      #expect(try isLive(.init(input: .file(file), live: true, owner: someone)))
      #expect(try isLive(.init(input: .file(file), size: VideoSize(width: 32, height: 32), owner: someone)))
      #expect(try isLive(.init(input: .file(file), fps: 10, owner: someone)))
      #expect(try isLive(.init(input: .file(file), audio: file, owner: someone)))
      let other = try scratch.make(
        "v.ivf", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2", "-c:v", "libvpx-vp9")
      #expect(try isLive(.init(input: .file(other), owner: someone)))
      // A file whose codec is sent is played as stored, others are not.
      var options = LiveCamera.Options(input: .file(other), owner: someone)
      options.videoCodec = .vp9
      #expect(try !isLive(options))
      options.input = .file(file)
      #expect(try isLive(options))
    }

    @Test("a VP9 file is sent as stored if video is to be sent as VP9", arguments: ["v.ivf", "v.webm"])
    func storedVP9(name: String) async throws {
      let path = try scratch.make(name, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.4", "-c:v", "libvpx-vp9")
      var options = LiveCamera.Options(input: .file(path), loops: false, owner: someone)
      options.videoCodec = .vp9
      let source = try LiveCamera.open(options)
      #expect(source.summary.contains("VP9 64x48, 10 frames"))
      var frames: [EncodedFrame] = []
      for await frame in await source.frames() { frames.append(frame) }
      let decoder = try VP9Decoder()
      let shown = try frames.compactMap { try decoder.decode($0.payload, \.size) }
      #expect(shown.count == 10 && frames.allSatisfy { $0.codec == .vp9 && $0.header.video != nil })
      #expect(frames.first?.isKeyframe == true && frames.first?.size == VideoSize(width: 64, height: 48))
    }

    @Test("the pattern is sent as VP9 on request")
    func patternInVP9() async throws {
      var options = LiveCamera.Options(input: .pattern, owner: someone)
      options.videoCodec = .vp9
      let camera = try LiveCamera(opening: options)
      let taken = await take(camera) { $0.of(.vp9).count == 30 }
      let decoder = try VP9Decoder()
      let reader = PatternReader()
      for frame in taken.of(.vp9) {
        let videoFrame = try #require(try decoder.decode(frame.payload, \.copy))
        #expect(throws: Never.self) { try reader.read(videoFrame).get() }
      }
      #expect(taken.of(.vp8).isEmpty && taken.of(.vp9).first?.isKeyframe == true)
    }

    @Test("a camera stops when its consumer cancels")
    func cancelled() async throws {
      let camera = try LiveCamera(opening: .init(input: .pattern, owner: someone))
      _ = await take(camera) { $0.frames.count == 3 }
      for _ in 0..<200 where camera.isPlaying { try await Task.sleep(for: .milliseconds(10)) }
      #expect(!camera.isPlaying)
    }

    @Test("a requested size and frame rate are applied")
    func sized() async throws {
      let video = try scratch.make("v.y4m", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=50:d=0.5")
      let camera = try LiveCamera(
        opening: .init(
          input: .file(video), size: VideoSize(width: 128, height: 72), fps: 10, loops: false, owner: someone))
      let taken = await take(camera)
      #expect(taken.frames.first?.size == VideoSize(width: 128, height: 72))
      #expect(taken.frames.map(\.time.ticks) == [0, 9_000, 18_000, 27_000, 36_000])
    }
  }
}
