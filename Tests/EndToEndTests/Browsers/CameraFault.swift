/// What is wrong with the camera and the microphone of `faulty-camera.js`.
enum CameraFault: String, Sendable, CaseIterable {
  /// Nothing.
  case none
  /// Frames come, but are black.
  case black
  /// Audio comes, but there is nothing in it.
  case silent
  /// 5 frames a second.
  case slow
  /// No frame for 2 s, 3 s after the devices were opened.
  case freeze
  /// The audio is 300 ms late.
  case lateAudio = "late-sound"
  /// The page leaves the room 3 s after the devices were opened.
  case leaving
}
