import Testing
import TextDrawing
