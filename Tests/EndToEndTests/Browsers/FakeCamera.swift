import Foundation
import TestSupport

/// Files that Chromium plays as its camera and microphone: 640x480 at 30 fps with a running counter and some noise,
/// which is as expensive to encode as a real room, and audio that is never silent.
struct FakeCamera: Sendable {
  let videoFrame: URL
  let audio: URL

  struct NotMade: Error, CustomStringConvertible {
    let errors: String

    var description: String { "ffmpeg could not create the files of the fake camera: \(errors)" }
  }

  /// Creates the files, which Chromium plays in a loop.
  static func make(in folder: URL, seconds: Int = 4) throws -> FakeCamera {
    let camera = FakeCamera(
      videoFrame: folder.appendingPathComponent("camera.y4m"), audio: folder.appendingPathComponent("microphone.wav"))
    let made = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-y",
        "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=30:duration=\(seconds),noise=alls=12:allf=t,format=yuv420p",
        "-f", "lavfi", "-i",
        "aevalsrc='0.4*sin(2*PI*(300+200*sin(2*PI*3*t))*t)*(0.6+0.4*sin(2*PI*5*t))'"
          + ":sample_rate=48000:duration=\(seconds)",
        "-map", "0:v", camera.videoFrame.path, "-map", "1:a", camera.audio.path,
      ])
    guard made.status == 0 else { throw NotMade(errors: made.errors) }
    return camera
  }
}
